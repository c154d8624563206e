import { join } from 'node:path'
import { adminFolder } from 'virtual:admin-folder'
import type { Handler } from '../../door/host-types.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import type { Logger } from '../../ground/logger.ts'
import { refuseRequest } from '../../ground/option-checks.ts'
import type { Host } from '../../host/host.ts'
import { orderWarning } from '../../middleware/visit.ts'
import { lateHandler } from '../../routes/late-routes.ts'
import { isAddress } from '../../routes/page-addresses.ts'
import type { AdminParts } from './create-admin.ts'
import { type AdminOptions, resolveAdminOptions } from './resolve-admin-options.ts'

/** The admin screen's public methods. */
interface Admin {
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
   * @throws SessmgrError `invalid_option` unless `url` is a path or URL.
   */
  enqueueAdmin(url: string): void
}

interface AdminFeatureParts extends Omit<AdminParts, 'host' | 'enqueued' | 'notePage' | 'folder' | 'options'> {
  readonly host: Host | undefined
  readonly logger: Logger
  /** Loads the function that creates the middleware. */
  load(parts: AdminParts): Promise<Handler>
}

/** Creates the admin screen's public methods. */
export function createAdminFeature(parts: AdminFeatureParts): Admin {
  const enqueued = new Set<string>()
  const notePage = orderWarning('limiter.admin()', parts.logger)
  return {
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
}

/**
 * Checks at startup that a folder has the admin screen's built files, and returns the folder.
 *
 * @throws SessmgrError `invalid_option` if the files are missing, for example in a bundle.
 */
function requireAdminFiles(folder: string): string {
  // Importing node:fs would delay every start by milliseconds.
  const { existsSync } = process.getBuiltinModule('node:fs')
  if (existsSync(join(folder, 'manifest.json'))) return folder
  throw invalidOption(
    `The admin screen's files are not in ${folder}. If you bundle this application, mark sessmgr as ` +
      'an external package, or copy node_modules/sessmgr/dist/admin to that folder',
  )
}
