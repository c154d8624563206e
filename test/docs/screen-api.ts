import { join } from 'node:path'
import ts from 'typescript'
import { SCREEN_HOOKS } from '../../src/browser/admin/shell/screen-hooks.ts'
import { scriptVars } from '../../src/features/admin/create-admin.ts'
import { tabsFor } from '../../src/features/admin/screen-tabs.ts'
import { consoleLogger } from '../../src/ground/logger.ts'
import { sessmgr } from '../../src/index.ts'
import { createTextsFor } from '../../src/texts/texts-for.ts'
import { type CompiledDoors, compileDoors } from './compile-doors.ts'
import { ROOT } from './pages.ts'
import type { Names } from './public-api.ts'
import { detailsOf, membersOf } from './type-names.ts'

const ADMIN = 'src/browser/admin'
const FILES = {
  hooks: `${ADMIN}/shell/screen-hooks.ts`,
  entries: `${ADMIN}/shell/entries.ts`,
  banner: `${ADMIN}/tabs/settings-tab.tsx`,
  api: `${ADMIN}/main.tsx`,
}

/** A hook of the admin screen. */
export interface ScreenHook {
  readonly name: string
  /** Type of the value of a filter; the parameters of an action. */
  readonly value: string
  /** Release that the doc comment names, where it names one. */
  readonly since: string | undefined
}

/** What add-ons find on the admin screen. */
export interface ScreenApi {
  readonly filters: readonly ScreenHook[]
  readonly actions: readonly ScreenHook[]
  readonly names: Names
}

/** Reads what add-ons find on the admin screen: hooks, `window.sessmgr`, components, tabs. */
export async function readScreenApi(): Promise<ScreenApi> {
  const compiled = compileDoors(FILES, `${ADMIN}/tsconfig.json`)
  const { checker } = compiled
  const none = new Set<string>()
  const api = membersIn(constantIn('api', 'SCREEN_API', compiled), compiled)
  const components = membersIn(api.get('components') as ts.Type, compiled)
  const { hooks, modes } = sessmgr()
  const vars = await scriptVars(
    { hooks, modes, restPath: '/api' },
    { base: '/admin', nonce: 'n', texts: createTextsFor(undefined, consoleLogger)() },
  )
  const filters = hooksIn('ScreenFilters', SCREEN_HOOKS.filters, compiled)
  const actions = hooksIn('ScreenActions', SCREEN_HOOKS.actions, compiled)
  const sections: [string, readonly string[]][] = [
    ['Filters of the admin screen', filters.map(({ name, value }) => `${name}(${value})`)],
    ['Actions of the admin screen', actions.map(({ name, value }) => `${name}(${value})`)],
    ['Variables of window.sessmgr', Object.keys(vars)],
    ['Members of window.sessmgr', [...api.keys()]],
    ['Members of window.sessmgr.hooks', [...membersIn(typeIn('hooks', 'ScreenHooks', compiled), compiled).keys()]],
    ['Details of useOption()', detailsOf(api.get('useOption') as ts.Type, checker, none)],
    ['Details of toast()', detailsOf(api.get('toast') as ts.Type, checker, none)],
    ['Components of window.sessmgr', [...components.keys()]],
    ...[...components].map(([name, type]): [string, string[]] => [
      `Properties of ${name}`,
      detailsOf(type, checker, none),
    ]),
    ...['TabEntry', 'PanelEntry'].map((name): [string, string[]] => [
      `Members of ${name}`,
      [...membersIn(typeIn('entries', name, compiled), compiled).keys()],
    ]),
    [
      'Tabs of the admin screen',
      tabsFor({ only: undefined, hasComments: true, hasAddons: true, hasActivity: true }).map(({ key }) => key),
    ],
    ['Classes of the admin screen', [wordOf(constantIn('banner', 'ROW', compiled))]],
  ]
  return { filters, actions, names: new Map(sections.filter(([, names]) => names.length > 0)) }
}

function membersIn(type: ts.Type, { checker }: CompiledDoors): Map<string, ts.Type> {
  return new Map(membersOf(type, checker).map((member) => [member.name, checker.getTypeOfSymbol(member)]))
}

function typeIn(file: keyof typeof FILES, name: string, { doors, checker }: CompiledDoors): ts.Type {
  const found = doors.find((door) => door.name === file)?.exports.find((it) => it.name === name)
  if (!found) throw new Error(`${FILES[file]} exports no ${name}: say in test/docs/screen-api.ts where it is now.`)
  return checker.getDeclaredTypeOfSymbol(found.symbol)
}

function sourceOf(file: keyof typeof FILES, { program }: CompiledDoors): ts.SourceFile {
  return program.getSourceFile(join(ROOT, FILES[file])) as ts.SourceFile
}

function constantIn(file: keyof typeof FILES, name: string, compiled: CompiledDoors): ts.Type {
  const constants = sourceOf(file, compiled)
    .statements.filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations)
  const found = constants.find((it) => it.name.getText() === name)
  if (!found) throw new Error(`${FILES[file]} has no ${name}: say in test/docs/screen-api.ts where it is now.`)
  return compiled.checker.getTypeAtLocation(found)
}

function wordOf(type: ts.Type): string {
  if (!type.isStringLiteral()) throw new Error('A constant of the admin screen is no text any more.')
  return type.value
}

/** The hooks that the screen knows, each with what its type says of it. */
function hooksIn(type: string, names: readonly string[], compiled: CompiledDoors): ScreenHook[] {
  const declared = typeIn('hooks', type, compiled).getProperties()
  return names.map((name) => {
    const declaration = declared.find((it) => it.name === name)?.declarations?.[0] as ts.PropertySignature | undefined
    const text = declaration?.type?.getText() ?? (type === 'ScreenFilters' ? 'unknown' : '...unknown[]')
    const value = text.replaceAll(/\breadonly /g, '').replace(/^Readonly<(.*)>$/, '$1')
    const tag = declaration && ts.getJSDocTags(declaration).find(({ tagName }) => tagName.text === 'since')
    return { name, value: value.replace(/^\[(.*)\]$/, '$1'), since: tag && ts.getTextOfJSDocComment(tag.comment) }
  })
}
