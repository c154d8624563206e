// Checks before a release that nothing is missing that only the owner can fill in, and that the release is complete. Names
// all of it at once. Runs before `npm publish`.
import { readdirSync, readFileSync } from 'node:fs'

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const { version, ...manifest } = JSON.parse(read('package.json'))

/** The one place of each address: README, pages, help of errors, and the site read it there. */
const OF_THE_OWNER = {
  repository: 'such as { "type": "git", "url": "git+https://github.com/owner/sessmgr.git" }',
  homepage: 'the address of the site, to which errors link',
  bugs: 'such as { "url": "https://github.com/owner/sessmgr/issues" }',
  author: 'a name, with the address for vulnerabilities',
}

const waiting = readdirSync(new URL('../.changeset', import.meta.url)).filter((name) => /^(?!README).*\.md$/.test(name))
const missing = [
  ...Object.entries(OF_THE_OWNER).flatMap(([field, what]) =>
    manifest[field] ? [] : `package.json: ${field}, ${what}`,
  ),
  ...(/^\S+ +@/m.test(read('.github/CODEOWNERS').replaceAll(/^#.*$/gm, '')) ? [] : ['.github/CODEOWNERS: the owner']),
  ...(new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`, 'm').test(read('CHANGELOG.md'))
    ? []
    : [`CHANGELOG.md: ${version} with its date; run npm run release:version`]),
  ...(waiting.length === 0 ? [] : [`CHANGELOG.md: ${waiting.length} changesets; run npm run release:version`]),
]

if (missing.length > 0) {
  console.error(`The package cannot be published. Missing:\n- ${missing.join('\n- ')}`)
  process.exit(1)
}
console.log(`sessmgr ${version} may be published.`)
