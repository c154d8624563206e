// Checks that nothing has grown beyond scripts/budgets.json: the walks through src/, and the lines and files of src/ and
// test/. A change that needs more raises its figure there, in the same commit. scripts/check-package.mjs checks the
// entry points, in bytes of gzip with their dependencies. `npm test` is only recorded, in seconds on two quiet cores,
// because machines differ.
//   node scripts/check-budgets.mjs [--write]     --write lowers the budgets to what was measured
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = new URL('budgets.json', import.meta.url)
const budgets = JSON.parse(readFileSync(file, 'utf8'))
const script = fileURLToPath(new URL('count-walks.mjs', import.meta.url))
const { stdout, stderr, status } = spawnSync(process.execPath, [script, '--json'], { encoding: 'utf8' })
if (status !== 0) throw new Error(`The walks could not be counted:\n${stderr}`)
const measured = JSON.parse(stdout)

/** Timers that fire during a walk add calls, and more of them on a busy machine. */
function mostOf(name, budget) {
  if (!name.startsWith('walks ')) return budget
  return name.endsWith(' files') ? budget + 1 : 1.05 * budget
}

/** Compares figures below a name, and returns the budgets, each lowered to its figure. */
function lowered(budget, figure, name) {
  if (typeof figure === 'number') {
    if (budget === undefined || figure > mostOf(name, budget)) {
      console.error(`${name}: ${figure}, but at most ${budget} in scripts/budgets.json.`)
      process.exitCode = 1
      return budget
    }
    return Math.min(figure, budget)
  }
  return Object.fromEntries(
    Object.entries(figure).map(([key, own]) => [key, lowered(budget?.[key], own, name ? `${name} ${key}` : key)]),
  )
}

const lower = { ...budgets, ...lowered(budgets, measured, '') }
if (process.argv.includes('--write')) writeFileSync(file, `${JSON.stringify(lower, null, 2)}\n`)
if (!process.exitCode) console.log('Every budget is kept.')
