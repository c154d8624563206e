import { adminFolder } from 'virtual:admin-folder'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import type { Logger } from '../../ground/logger.ts'
import { refuseRequest } from '../../ground/request-checks.ts'
import type { Handler, HostRequest } from '../../guard/host-types.ts'
import type { Host } from '../../host/host.ts'
import { orderWarning } from '../../middleware/guard-order.ts'
import { lateHandler } from '../../routes/late-handler.ts'
import { isAddress } from '../../routes/page-addresses.ts'
import type { AdminParts } from './create-admin.ts'
import { requireAdminFiles } from './require-admin-files.ts'
import { type AdminOptions, resolveAdminOptions } from './resolve-admin-options.ts'
import { createRoutesWarning, type RoutesWarning } from './routes-warning.ts'

/** The admin screen's public methods. */
export interface Admin {
  /**
   * Returns the middleware of the screen.
   *
   * @throws SessmgrError `invalid_option` for an invalid option, if `host` is not set, or if the built files are
   * missing.
   */
  admin(options?: AdminOptions): Handler
  /**
   * Adds a script or style sheet to the screen.
   *
   * @throws SessmgrError `invalid_option` unless it is a path or URL.
   */
  enqueueAdmin(url: string): void
}

export interface AdminFeatureParts extends Omit<AdminParts, 'host' | 'enqueued' | 'notePage' | 'folder' | 'options'> {
  readonly host: Host | undefined
  readonly logger: Logger
  /** Loads the function that creates the middleware. */
  load(parts: AdminParts): Promise<Handler>
}

/** Creates the admin screen. The screen calls the REST routes; `routesWarning` checks that it can reach them. */
export function createAdminFeature(parts: AdminFeatureParts): { member: Admin; routesWarning: RoutesWarning } {
  const enqueued = new Set<string>()
  const routesWarning = createRoutesWarning(parts.restPath, parts.logger)
  const noteOrder = orderWarning('limiter.admin()', parts.logger)
  const notePage = (request: HostRequest) => {
    noteOrder(request)
    routesWarning.notePage()
  }
  const member: Admin = {
    admin(options) {
      refuseRequest(options, 'limiter.admin()')
      const resolved = resolveAdminOptions(options)
      const { host } = parts
      if (!host) {
        throw new SessmgrError(
          'invalid_option',
          'The admin screen needs users and permissions. Set host: sessmgr({ host: { users, can } }).',
        )
      }
      const folder = requireAdminFiles(adminFolder())
      return lateHandler(parts.load({ ...parts, host, enqueued, notePage, folder, options: resolved }))
    },
    enqueueAdmin(url) {
      if (!isAddress(url))
        throw invalidOption('enqueueAdmin() takes a path such as "/add-on.js", or an http or https URL')
      enqueued.add(url)
    },
  }
  return { member, routesWarning }
}
