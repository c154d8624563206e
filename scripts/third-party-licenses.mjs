// Writes the licences of what is bundled into the package, as they ask for, and refuses what may not be: the build
// leaves lists of its inputs in dist/, which this reads and removes.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const ALLOWED = ['MIT', 'ISC', '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause']

const lists = readdirSync(dist).filter((name) => /^metafile-.*\.json$/.test(name))
const inputs = lists.flatMap((name) => Object.keys(JSON.parse(readFileSync(join(dist, name), 'utf8')).inputs))
const folders = new Set(inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []))
const texts = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  if (!ALLOWED.includes(license)) {
    console.error(`${name} is bundled, and its licence (${license}) is none of ${ALLOWED.join(', ')}.`)
    process.exit(1)
  }
  const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file ? readFileSync(join(root, folder, file), 'utf8').trim() : `Licence: ${license}`
  return `${name} ${version}\n\n${text}\n`
})
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`))
for (const name of lists) rmSync(join(dist, name))
