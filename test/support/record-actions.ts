import { type Hooks, hookCatalogue } from '../../src/index.ts'

/** An action that fired, with its parameters. */
export type FiredAction = readonly [name: string, ...parameters: unknown[]]

/** Records every action that fires from now on, in order, but for those of the start. */
export function recordActions(hooks: Hooks): FiredAction[] {
  const fired: FiredAction[] = []
  for (const name of Object.keys(hookCatalogue.actions) as (keyof typeof hookCatalogue.actions)[]) {
    if (name.endsWith('_init')) continue
    hooks.addAction(name, 'recorder', (...parameters: unknown[]) => {
      fired.push([name, ...parameters])
    })
  }
  return fired
}
