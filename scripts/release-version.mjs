// Collects the changesets: sets the version in package.json, and writes the section of the release in CHANGELOG.md, with
// its date, what breaks, and what readers must do about it.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const CHANGELOG = new URL('../CHANGELOG.md', import.meta.url)
const TITLES = { Major: 'Breaking', Minor: 'New', Patch: 'Fixed' }

const { status } = spawnSync('npx', ['changeset', 'version'], { cwd: root, stdio: 'inherit', shell: true })
if (status !== 0) process.exit(status ?? 1)

const [head = '', latest = '', ...older] = readFileSync(CHANGELOG, 'utf8').split(/^(?=## )/m)
const today = new Date().toISOString().slice(0, 10)
if (!latest.includes('### ')) throw new Error('CHANGELOG.md does not begin with the release.')
if (/^## \d+\.\d+\.\d+\n/.test(latest)) writeFileSync(CHANGELOG, [head, withDuties(latest), ...older].join(''))

/** Writes the section anew: dated, with the usual titles, and with a list of what readers must do. */
function withDuties(section) {
  const duties = []
  const text = section
    .replace(/^## (\S+)$/m, `## $1 (${today})`)
    .replaceAll(/^### (Major|Minor|Patch) Changes$/gm, (_, kind) => `### ${TITLES[kind]}`)
    .replaceAll(/\n\n {2}What you must do: ((?:.+\n)+)/g, (_, duty) => {
      duties.push(`- ${duty.charAt(0).toUpperCase()}${duty.slice(1).trim()}\n`)
      return '\n'
    })
    .replaceAll(/(?<!^#.*)\n\n(?=- )/gm, '\n')
  const list = duties.length > 0 ? duties.join('') : '- Nothing.\n'
  const [first = '', ...rest] = text.split(/^(?=### (?!Breaking))/m)
  return [first, `### What you must do\n\n${list}\n`, ...rest].join('')
}
