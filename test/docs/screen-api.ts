import type ts from 'typescript'
import { SCREEN_HOOKS } from '../../src/browser/admin/shell/screen-hooks.ts'
import { type CompiledDoors, compileDoors } from './compile-doors.ts'

const ADMIN = 'src/browser/admin'
const HOOKS = `${ADMIN}/shell/screen-hooks.ts`

/** A hook of the admin screen. */
export interface ScreenHook {
  readonly name: string
  /** Type of the value of a filter; the parameters of an action. */
  readonly value: string
}

/** The hooks of the admin screen. */
export interface ScreenApi {
  readonly filters: readonly ScreenHook[]
  readonly actions: readonly ScreenHook[]
}

/** Reads the hooks that add-ons find on the admin screen. */
export function readScreenApi(): ScreenApi {
  const compiled = compileDoors({ hooks: HOOKS }, `${ADMIN}/tsconfig.json`)
  return {
    filters: hooksIn('ScreenFilters', SCREEN_HOOKS.filters, compiled),
    actions: hooksIn('ScreenActions', SCREEN_HOOKS.actions, compiled),
  }
}

/** The hooks that the screen knows, each with what its type says of it. */
function hooksIn(type: string, names: readonly string[], { doors, checker }: CompiledDoors): ScreenHook[] {
  const found = doors[0]?.exports.find((it) => it.name === type)
  if (!found) throw new Error(`${HOOKS} exports no ${type}: say in test/docs/screen-api.ts where it is now.`)
  const declared = checker.getDeclaredTypeOfSymbol(found.symbol).getProperties()
  return names.map((name) => {
    const declaration = declared.find((it) => it.name === name)?.declarations?.[0] as ts.PropertySignature | undefined
    const text = declaration?.type?.getText() ?? (type === 'ScreenFilters' ? 'unknown' : '...unknown[]')
    const value = text.replaceAll(/\breadonly /g, '').replace(/^Readonly<(.*)>$/, '$1')
    return { name, value: value.replace(/^\[(.*)\]$/, '$1') }
  })
}
