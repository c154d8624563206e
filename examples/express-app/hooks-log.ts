import { appendFileSync } from 'node:fs'
import { type Hooks, hookCatalogue } from 'sessmgr'

/** Appends every action that fires to a file, as one line of JSON, for the tests of this application. */
export function logHooks(hooks: Hooks, file: string): void {
  for (const hook of Object.keys(hookCatalogue.actions) as (keyof typeof hookCatalogue.actions)[]) {
    hooks.addAction(hook, 'hooks-log', (...args: unknown[]) => {
      appendFileSync(file, `${JSON.stringify({ hook, args })}\n`)
    })
  }
}
