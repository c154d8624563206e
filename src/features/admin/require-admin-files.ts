import { join } from 'node:path'
import { invalidOption } from '../../ground/invalid-option.ts'

/**
 * Sees to it, when the application starts, that the built files of the admin screen are in their folder.
 *
 * @throws SessmgrError `invalid_option` where they are not, as in a bundle.
 */
export function requireAdminFiles(folder: string): string {
  // An import of node:fs would cost every start some milliseconds.
  const { existsSync } = process.getBuiltinModule('node:fs')
  if (existsSync(join(folder, 'manifest.json'))) return folder
  throw invalidOption(
    `The files of the admin screen are not in ${folder}. If this application is a bundle, leave sessmgr out of it, as ` +
      'an external package, or copy node_modules/sessmgr/dist/admin to that place',
  )
}
