import { posix } from 'node:path'
import ts from 'typescript'
import { type Import, importsOf } from './imports-of.ts'
import { parse } from './parse.ts'

/** Floor of each folder: a file imports its own folder and lower floors, never an equal or higher one. */
export const FLOORS: Readonly<Record<string, number>> = {
  sessions: 0,
  texts: 0,
  hooks: 1,
  host: 2,
  options: 2,
  strategies: 3,
  auth: 3,
  stores: 4,
  limiter: 5,
  door: 6,
  middleware: 7,
  routes: 7,
  'features/activity': 9,
  'features/addons': 9,
  'features/admin': 9,
  'features/comments': 9,
  'features/pages': 9,
  service: 10,
  cli: 11,
  adapters: 12,
  testing: 11,
}

/** What extensions may use besides the doors of the package and the ground. */
const EXTENSION_DOOR = 'extend.ts'

/** The lowest folder, which imports only from itself. */
const GROUND = 'ground'

/**
 * The packages that a folder may import besides Node's modules and `src/`: no framework, no Redis client, nothing
 * unlisted.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  sessions: ['bowser'],
  texts: ['virtual:late-texts'],
  door: ['cookie', 'on-headers'],
  middleware: ['cookie'],
  routes: ['zod/mini'],
  'features/activity': ['zod/mini'],
  'features/addons': ['zod/mini'],
  'features/admin': ['virtual:admin-folder'],
  'features/comments': ['isbot', 'zod/mini', 'virtual:lazycomments-assets'],
  'features/pages': ['cookie', 'zod/mini'],
  adapters: ['fastify', 'koa'],
  'extensions/better-auth': ['better-auth', 'better-auth/api'],
  'extensions/freemius': ['zod/mini'],
  'extensions/offline-licenses': ['jose', 'zod/mini'],
  cli: ['commander', 'jose'],
  'browser/comments': [],
  'browser/admin': ['bowser', 'preact', 'react', 'react-dom/client', 'react/jsx-runtime'],
}

/** One file per door of the package. */
export const DOORS: readonly string[] = [
  'index.ts',
  'audit.ts',
  'redis.ts',
  'document.ts',
  'sqlite.ts',
  'postgres.ts',
  'comments.ts',
  'licensing.ts',
  'fastify.ts',
  'koa.ts',
  'explicit.ts',
  'fetch.ts',
  'better-auth.ts',
  'bound.ts',
  'constants.ts',
  'jwt.ts',
  'live.ts',
  'testing.ts',
]

/** The program behind the package's command. It runs the code in the folder of the same name. */
const PROGRAM = 'cli.ts'

/** Declares the modules that the build creates. */
const TYPES_OF_THE_BUILD = 'build-modules.d.ts'

/** The texts of the admin screen, which the catalogue of all texts includes. */
const SCREEN_TEXTS = { path: 'texts/english.ts', target: 'browser/admin/texts/texts.ts' }

/** What the page of the admin screen and its script agree on. Bundled into the script, so it imports nothing. */
const SCREEN_TABS = { path: 'features/admin/screen-tabs.ts', island: 'browser/admin' }

/** Loads the application's configuration, so the path of its import is computed. */
const LOADER = 'cli/load-config.ts'

/** Files that require packages of the application. */
const REQUIRERS = [LOADER, 'stores/sqlite-connection.ts']

/** Describes how a file under src/ breaks the rules on imports. `path` is relative to src/. */
export function importViolations(path: string, source: string): string[] {
  const file = parse(path, source)
  const folder = folderOf(path)
  if (path === TYPES_OF_THE_BUILD) return []
  if (DOORS.includes(path) || path === EXTENSION_DOOR)
    return file.statements.filter((it) => !isReExport(it)).map(() => `${path}: a door only re-exports`)
  if (folder === '' && path !== PROGRAM)
    return [
      `${path}: only entry points lie in src/ itself. For a new one, add it to DOORS in test/support/import-rules.ts`,
    ]
  const isKnown = folder === GROUND || isIsland(folder) || isExtension(folder) || Object.hasOwn(FLOORS, folder)
  if (folder !== '' && !isKnown) return [`src/${folder}/ has no floor`]

  return importsOf(file).flatMap((it) => {
    const { from } = it
    if (path === SCREEN_TABS.path) return [`${path}: may not import ${from}`]
    if (from === undefined) return path === LOADER ? [] : [`${path}: computes what it imports`]
    if (!from.startsWith('.')) return mayKnow(path, folder, from) ? [] : [`${path}: may not know ${from}`]
    const target = posix.join(posix.dirname(path), from)
    if (isExtension(folder)) return mayUse(folder, target) ? [] : [`${path}: may not import ${target}`]
    if (DOORS.includes(target) || target === PROGRAM) return [`${path}: imports the door ${target}`]
    const allowed = isIsland(folder) ? mayReach : mayStandOn
    return allowed(path, target, it) ? [] : [`${path}: may not import ${target}`]
  })
}

function mayKnow(path: string, folder: string, from: string): boolean {
  if (PACKAGES[folder]?.includes(from)) return path !== PROGRAM
  // Code that the browser also runs must not use Node, and `require` could load anything.
  if (path === PROGRAM || isIsland(folder) || folder === 'hooks') return false
  return from.startsWith('node:') && (from !== 'node:module' || REQUIRERS.includes(path))
}

/** Extensions stay at arm's length: they import doors, as an application does, and the tools of the ground. */
function mayUse(folder: string, target: string): boolean {
  const targetFolder = folderOf(target)
  return DOORS.includes(target) || target === EXTENSION_DOOR || targetFolder === GROUND || targetFolder === folder
}

function mayStandOn(path: string, target: string): boolean {
  const [folder, targetFolder] = [folderOf(path), folderOf(target)]
  if (path === PROGRAM) return targetFolder === 'cli'
  // The command line issues licenses.
  if (isExtension(targetFolder)) return folder === 'cli'
  if (target === SCREEN_TEXTS.target) return path === SCREEN_TEXTS.path
  if (target === '../package.json' || targetFolder === GROUND || targetFolder === folder) return true
  if (folder === GROUND || !Object.hasOwn(FLOORS, targetFolder)) return false
  return floorOf(targetFolder) < floorOf(folder)
}

/** Code for pages is divided into islands, which import only themselves, the hooks and what is shared with the server. Types may come from anywhere. */
function mayReach(path: string, target: string, { typeOnly }: Import): boolean {
  const [island, targetFolder] = [folderOf(path), folderOf(target)]
  if (targetFolder === island || targetFolder === 'hooks') return true
  if (target === SCREEN_TABS.path && island === SCREEN_TABS.island) return true
  return typeOnly && !isIsland(targetFolder) && !target.startsWith('..')
}

const floorOf = (folder: string) => FLOORS[folder] ?? Number.POSITIVE_INFINITY

const isIsland = (folder: string) => folder.startsWith('browser/')

const isExtension = (folder: string) => folder.startsWith('extensions/')

function folderOf(path: string): string {
  const [first = '', second, ...deeper] = path.split('/')
  if (second === undefined) return ''
  return ['browser', 'extensions', 'features'].includes(first) ? `${first}/${deeper.length > 0 ? second : ''}` : first
}

function isReExport(statement: ts.Statement): boolean {
  if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier) return false
  return ts.isStringLiteral(statement.moduleSpecifier) && /^\.\/(?!browser\/)/.test(statement.moduleSpecifier.text)
}
