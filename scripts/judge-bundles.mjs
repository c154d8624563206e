// Checks what is bundled into the package, using the lists of inputs that the build leaves in dist/, and then removes
// the lists. Checks which packages are in which part, and under which license, and writes the license texts that must
// be included.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const LICENSES = ['MIT', 'ISC', '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause']
/**
 * Only these may be bundled into code that runs in Node. Frameworks and Redis clients are installed by the application.
 */
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
        `${bundled} is bundled into code that runs in Node, where only ${IN_NODE.join(', ')} may be. Import only its types.`,
      )
    }
  }
}

const texts = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  if (!LICENSES.includes(license)) {
    refuse(`${name} is bundled, but its license (${license}) is not one of ${LICENSES.join(', ')}.`)
  }
  const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file ? readFileSync(join(root, folder, file), 'utf8').trim() : `License: ${license}`
  return `${name} ${version}\n\n${text}\n`
})
// A package may be installed under several names.
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), [...new Set(texts)].join(`\n${'-'.repeat(80)}\n\n`))
for (const name of lists) rmSync(join(dist, name))

function refuse(message) {
  console.error(message)
  process.exit(1)
}
