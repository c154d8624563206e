// Copies the Markdown of the repository to where VitePress reads it. The pages stay as they are for GitHub and npm: only
// links to files that are no pages lead elsewhere, to the repository or to a page that shows the file.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, posix, relative } from 'node:path'

/** Pages outside `docs/`, with their place on the site. */
const OTHERS = {
  'README.md': 'index.md',
  'CONTRIBUTING.md': 'contributing.md',
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'report-a-vulnerability.md',
  'CODE_OF_CONDUCT.md': 'code-of-conduct.md',
}

/**
 * Writes every page below `target`, and returns their paths there.
 *
 * @param {string} root Folder of the repository.
 * @param {string} target
 * @returns {readonly string[]}
 */
export function stage(root, target) {
  rmSync(target, { recursive: true, force: true })
  const pages = new Map([
    ...Object.entries(OTHERS).filter(([path]) => existsSync(join(root, path))),
    ...markdownBelow(root, 'docs').map((path) => [path, placeOf(path.slice('docs/'.length))]),
    ...markdownBelow(root, 'examples').map((path) => [path, placeOf(path)]),
  ])
  for (const path of [...pages.keys()]) {
    const text = readFileSync(join(root, path), 'utf8')
    write(join(target, pages.get(path)), withLinks(root, path, text, pages))
  }
  for (const [path, place] of pages) if (!path.endsWith('.md')) write(join(target, place), showFile(root, path))
  cpSync(join(root, 'docs/images'), join(target, 'images'), { recursive: true })
  return [...pages.values()]
}

/** Where a page is on the site: the README of a folder is its index. The map of all pages is not the front page. */
const placeOf = (path) => (path === 'README.md' ? 'pages.md' : path.replace(/(^|\/)README\.md$/, '$1index.md'))

function markdownBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.name === 'node_modules') return []
    if (entry.isDirectory()) return markdownBelow(root, path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

/** Rewrites links, except in code. A file that is linked to is added to `pages`. */
function withLinks(root, path, text, pages) {
  const place = pages.get(path)
  const toPlace = (target, label) => {
    if (/^(https?:|mailto:|#)/.test(target)) return target
    const [file = '', anchor] = target.split('#')
    const linked = posix.join(posix.dirname(path), file)
    const absolute = join(root, linked)
    if (!existsSync(absolute)) throw new Error(`${path} links to ${target}, which does not exist.`)
    if (linked.startsWith('docs/images/')) return relativePath(place, linked.slice('docs/'.length))
    if (statSync(absolute).isDirectory()) throw new Error(`${path} links to the folder ${target} (${label}).`)
    if (!pages.has(linked)) pages.set(linked, `files/${linked.replaceAll('.', '-')}.md`)
    return relativePath(place, pages.get(linked)) + (anchor === undefined ? '' : `#${anchor}`)
  }
  return text
    .split(/(```[\s\S]*?```)/)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part.replaceAll(/(\[[^\]]*\])\(([^)\s]+)\)/g, (_, label, target) => `${label}(${toPlace(target, label)})`),
    )
    .join('')
}

function relativePath(from, to) {
  const path = relative(dirname(from), to).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

/** A page that shows a file of the repository, such as an example. */
function showFile(root, path) {
  const language = extname(path).slice(1) || 'text'
  return `# ${path}\n\n\`\`\`\`${language}\n${readFileSync(join(root, path), 'utf8')}\n\`\`\`\`\n`
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
