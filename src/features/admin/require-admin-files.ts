import { join } from 'node:path'
import { invalidOption } from '../../ground/invalid-option.ts'

/**
 * Checks at startup that the admin screen's built files exist.
 *
 * @throws SessmgrError `invalid_option` if they do not, for example in a bundle.
 */
export function requireAdminFiles(folder: string): string {
  // Importing node:fs would delay every start by milliseconds.
  const { existsSync } = process.getBuiltinModule('node:fs')
  if (existsSync(join(folder, 'manifest.json'))) return folder
  throw invalidOption(
    `The files of the admin screen are not in ${folder}. If you bundle this application, mark sessmgr as ` +
      'an external package, or copy node_modules/sessmgr/dist/admin to that folder',
  )
}
