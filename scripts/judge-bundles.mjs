// Judges what other packages are bundled into this one, by the lists of inputs that the build leaves in dist/, which this
// removes: what may be in which part, and under which licence. Writes the licences, as they ask for.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const LICENCES = ['MIT', 'ISC', '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause']
/** What runs in Node carries this along and no more: a framework or a Redis client is the application's. */
const IN_NODE = ['bowser', 'zod']

const lists = readdirSync(dist).filter((name) => /^metafile-.*\.json$/.test(name))
const folders = new Set()
for (const name of lists) {
  const inputs = Object.keys(JSON.parse(readFileSync(join(dist, name), 'utf8')).inputs)
  for (const input of inputs) {
    const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]
    if (folder === undefined) continue
    folders.add(folder)
    const bundled = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
    if (name !== 'metafile-admin.json' && !IN_NODE.includes(bundled)) {
      refuse(
        `${bundled} is bundled into what runs in Node, where only ${IN_NODE.join(', ')} may be: import its types alone.`,
      )
    }
  }
}

const texts = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  if (!LICENCES.includes(license)) {
    refuse(`${name} is bundled, and its licence (${license}) is none of ${LICENCES.join(', ')}.`)
  }
  const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file ? readFileSync(join(root, folder, file), 'utf8').trim() : `Licence: ${license}`
  return `${name} ${version}\n\n${text}\n`
})
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`))
for (const name of lists) rmSync(join(dist, name))

function refuse(message) {
  console.error(message)
  process.exit(1)
}
