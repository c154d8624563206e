import { invalidOption } from '../../ground/invalid-option.ts'
import type { Logger } from '../../ground/logger.ts'
import { refuseRequest } from '../../ground/request-checks.ts'
import type { HostRequest } from '../../guard/host-types.ts'
import { orderWarning } from '../../middleware/guard-order.ts'
import type { Feature } from '../../routes/feature.ts'
import { type AdminParts, createAdmin } from './create-admin.ts'
import { isAddress } from './page-addresses.ts'
import type { AdminOptions } from './resolve-admin-options.ts'
import { createRoutesWarning, type RoutesWarning } from './routes-warning.ts'

/** The admin screen as the service offers it. */
export interface Admin {
  /** Makes the middleware of the screen. @throws SessmgrError `invalid_option` */
  admin(options?: AdminOptions): ReturnType<typeof createAdmin>
  /** Puts a script or style sheet on the screen. @throws SessmgrError `invalid_option` for anything but an address. */
  enqueueAdmin(url: string): void
}

/** What the admin screen is made from. */
export interface AdminFeatureParts extends Omit<AdminParts, 'enqueued' | 'notePage'> {
  readonly logger: Logger
}

/** Creates the admin screen. It has no routes of its own; `routesWarning` notes where those that it calls are mounted. */
export function createAdminFeature(parts: AdminFeatureParts): Feature<Admin> & { routesWarning: RoutesWarning } {
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
      return createAdmin({ ...parts, enqueued, notePage }, options)
    },
    enqueueAdmin(url) {
      if (!isAddress(url))
        throw invalidOption('enqueueAdmin() takes a path such as "/add-on.js", or an http or https address')
      enqueued.add(url)
    },
  }
  return { routes: [], member, routesWarning }
}
