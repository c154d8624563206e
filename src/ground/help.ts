import * as manifest from '../../package.json'

/** Website of this package, if package.json names one. Errors and warnings link to its troubleshooting page. */
export const HOMEPAGE: string | undefined = (manifest as { homepage?: string }).homepage

/** Sections of docs/troubleshooting.md about warnings and commands. Each error code has a section named after it. */
export const HELP_TOPICS = [
  'a-rest-call-failed',
  'a-store-call-failed',
  'activity-not-recorded',
  'add-on-catalogue-not-updated',
  'add-on-not-registered',
  'block-without-a-way-out',
  'command-cannot-load-the-configuration',
  'command-needs-a-host',
  'command-needs-a-shared-store',
  'claims-without-a-session',
  'comments-block-not-cached',
  'directory-is-incomplete',
  'host-details-left-out',
  'host-must-return-a-boolean',
  'license-cannot-be-read',
  'license-not-checked',
  'limits-without-a-maximum',
  'limiterlogin-with-passport',
  'login-before-sessmgr',
  'login-keeps-the-session-id',
  'login-saved-without-a-user-id',
  'login-not-awaited',
  'logins-of-api-clients',
  'many-sessions-in-a-database',
  'mounted-before-sessmgr',
  'mounted-before-the-session',
  'no-login-seen',
  'nobody-can-be-asked',
  'open-connections',
  'problem-with-texts',
  'proxy-not-trusted',
  'redis-may-evict',
  'rest-routes-not-found',
  'rest-routes-without-host',
  'second-limiter',
  'session-names-another-user',
  'session-store-shortens-sessions',
  'sessionuser-must-return-an-id',
  'several-processes',
  'signed-in-user-not-found',
  'stored-settings-override-code',
  'users-with-the-same-id',
] as const

/** A section of docs/troubleshooting.md. */
export type HelpTopic = (typeof HELP_TOPICS)[number]

const PAGE = 'docs/troubleshooting.md'

let base: string | undefined

/**
 * Returns the address of a section, named by topic or error code. This is a web URL if the package has a homepage,
 * otherwise a file URL, which terminals can open. If the file is not found, it is a path below the project.
 */
export function helpAt(section: string): string {
  base ??= pageAddress(HOMEPAGE)
  return `${base}#${section}`
}

/** The parts of Node's `process` that help to find a file. Declared here, because browser code has no Node types. */
interface NodeProcess {
  readonly argv: readonly string[]
  cwd(): string
  getBuiltinModule?(name: string): {
    existsSync(path: string): boolean
    pathToFileURL(path: string): URL
    createRequire(from: string): { readonly resolve: { paths(module: string): string[] | null } }
  }
}

/** Returns the address of the troubleshooting page, which ships with the package. */
export function pageAddress(homepage: string | undefined): string {
  if (homepage) {
    const site = homepage.replace(/\/*(#.*)?$/, '')
    return site.startsWith('https://github.com/') ? `${site}/blob/HEAD/${PAGE}` : `${site}/troubleshooting`
  }
  const path = `node_modules/sessmgr/${PAGE}`
  // This file is also part of the scripts for browsers.
  const { process } = globalThis as { process?: NodeProcess }
  return (process?.getBuiltinModule && installedPage(process, process.getBuiltinModule)) ?? path
}

/** Returns the page's file URL in the package that the program, or a module in the working folder, would load. */
function installedPage({ argv, cwd }: NodeProcess, load: NonNullable<NodeProcess['getBuiltinModule']>) {
  for (const from of [() => argv[1], () => `${cwd()}/index.js`]) {
    try {
      const folders = load('node:module').createRequire(String(from())).resolve.paths('sessmgr') ?? []
      const files = folders.map((folder) => `${folder}/sessmgr/${PAGE}`)
      const file = files.find(load('node:fs').existsSync)
      if (file) return load('node:url').pathToFileURL(file).href
    } catch {
      // There is no program, or the working folder was deleted.
    }
  }
  return undefined
}
