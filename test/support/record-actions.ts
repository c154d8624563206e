import { type Hooks, hookCatalogue } from '../../src/index.ts'

/** An action that fired, with its parameters. */
export type FiredAction = readonly [name: string, ...parameters: unknown[]]

type ActionName = keyof typeof hookCatalogue.actions

/** The actions about every session and every refusal, whose parameters are long. */
export const EVERY_SESSION: readonly ActionName[] = [
  'sessmgr_session_started',
  'sessmgr_session_ended',
  'sessmgr_login_refused',
  'sessmgr_new_device',
]

const OTHERS = (Object.keys(hookCatalogue.actions) as ActionName[]).filter(
  (name) => !name.endsWith('_init') && !EVERY_SESSION.includes(name),
)

/** Records every action that fires from now on, in order, except those at startup and those about every session. */
export function recordActions(hooks: Hooks, names: readonly ActionName[] = OTHERS): FiredAction[] {
  const fired: FiredAction[] = []
  for (const name of names) {
    hooks.addAction(name, 'recorder', (...parameters: unknown[]) => {
      fired.push([name, ...parameters])
    })
  }
  return fired
}
