// Builds the site from the Markdown that GitHub and npm show, with the reference of the API. Needs the network only to
// install VitePress, once. A dead link fails the build.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stage } from './stage.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const site = fileURLToPath(new URL('.', import.meta.url))
const pages = join(site, 'pages')

const { homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** The path of the site, as in config.mjs. */
const base = homepage ? `${new URL(homepage).pathname.replace(/\/*$/, '')}/` : '/'

install()
stage(root, pages)
run(
  process.execPath,
  [
    join(root, 'node_modules/typedoc/bin/typedoc'),
    '--options',
    join(site, 'typedoc.json'),
    '--out',
    join(pages, 'api'),
    '--entryFileName',
    'index',
  ],
  root,
)
run(process.execPath, [join(site, 'node_modules/vitepress/bin/vitepress.js'), 'build', '.'], site)
const dead = deadLinks(join(site, 'dist'))
if (dead.length > 0) {
  console.error(`These links lead nowhere:\n${dead.join('\n')}`)
  process.exit(1)
}
console.log(`The site is in ${join('site', 'dist')}.`)

function install() {
  const stamp = join(site, 'node_modules', '.lock')
  const lock = createHash('sha256')
    .update(readFileSync(join(site, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  run('npm', ['ci', '--no-audit', '--no-fund'], site)
  writeFileSync(stamp, lock)
}

/**
 * Follows every link of every page, with its anchor, which VitePress does not.
 *
 * @param {string} folder
 */
function deadLinks(folder) {
  const files = readdirSync(folder, { recursive: true }).map((path) => String(path).replaceAll('\\', '/'))
  const texts = new Map(
    files.filter((path) => path.endsWith('.html')).map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  )
  return [...texts].flatMap(([from, text]) =>
    [...text.matchAll(/ (?:href|src)="([^"]*)"/g)]
      .map(([, target = '']) => new URL(target.replaceAll('&amp;', '&'), `http://site${base}${from}`))
      .filter(({ host, protocol }) => host === 'site' && protocol === 'http:')
      .filter(({ pathname, hash }) => {
        const path = decodeURI(pathname).slice(base.length)
        const found = [path, `${path}.html`, `${path}index.html`].find((name) => files.includes(name) && name !== '')
        const id = decodeURIComponent(hash.slice(1)).replaceAll('&', '&amp;')
        return !found || (id !== '' && texts.has(found) && !texts.get(found)?.includes(` id="${id}"`))
      })
      .map(({ pathname, hash }) => `${from}: ${pathname}${hash}`),
  )
}

function run(command, parameters, cwd) {
  const { status } = spawnSync(command, parameters, { cwd, stdio: 'inherit', shell: command === 'npm' })
  if (status !== 0) process.exit(status ?? 1)
}
