import * as manifest from '../../package.json'

/** Website of this package, if package.json names one. Errors and warnings link to its troubleshooting page. */
export const HOMEPAGE: string | undefined = (manifest as { homepage?: string }).homepage

/**
 * The warnings about an application's setup. Each reports something that an ordinary setup silently switches off, and how
 * to cure it. Each has a section of docs/troubleshooting.md, and a test that provokes it with `aWarning(name)`.
 */
export const WARNINGS = [
  'block-without-a-way-out',
  'labels-change',
  'login-keeps-the-session-id',
  'login-not-awaited',
  'mounted-before-the-session',
  'no-login-seen',
  'nobody-can-be-asked',
  'open-connections',
  'proxy-not-trusted',
  'redis-may-evict',
  'rest-routes-refuse-users',
  'routes-before-sessmgr',
  'session-is-never-bound',
  'session-names-another-user',
  'session-store-shortens-sessions',
  'several-memory-stores',
  'users-with-the-same-id',
] as const

/** The name of a warning, and of its section in docs/troubleshooting.md. */
export type Warning = (typeof WARNINGS)[number]

/** The section of docs/troubleshooting.md about log lines of failures. */
export const FAILURES = 'a-call-failed'

const PAGE = 'docs/troubleshooting.md'

let base: string | undefined

/**
 * Returns the address of a section, named by warning or error code. This is a web URL if the package has a homepage,
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
