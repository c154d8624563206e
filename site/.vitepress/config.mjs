import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const pages = fileURLToPath(new URL('../pages/', import.meta.url))
const { homepage, repository } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const address = typeof repository === 'string' ? repository : repository?.url
const repositoryUrl = address?.replace(/^git\+|\.git$/g, '')

export default defineConfig({
  srcDir: 'pages',
  outDir: 'dist',
  base: homepage ? `${new URL(homepage).pathname.replace(/\/*$/, '')}/` : '/',
  title: 'sessmgr',
  description: 'An exact limit on concurrent sessions per account',
  cleanUrls: true,
  lastUpdated: false,
  markdown: { anchor: { slugify }, languageAlias: { mjs: 'js' } },
  vite: { build: { chunkSizeWarningLimit: 5000 } },
  themeConfig: {
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'All pages', link: '/pages' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    ...(repositoryUrl ? { socialLinks: [{ icon: 'github', link: repositoryUrl }] } : {}),
  },
})

/** Reads the map of all pages, so that the order there is also that of the back and next links. */
function sidebar() {
  const sections = []
  for (const line of read('pages.md').split('\n')) {
    const title = /^## (.*)/.exec(line)?.[1]
    if (title) sections.push({ text: title, collapsed: false, items: [] })
    for (const [, text, path = ''] of line.matchAll(/\[([^\]]+)\]\(\.\/([\w./-]+)\.md\)/g)) {
      const link = `/${path.replace(/(^|\/)index$/, '$1')}`
      const item = { text: text.charAt(0).toUpperCase() + text.slice(1), link }
      sections.at(-1)?.items.push(item)
    }
  }
  return [
    ...sections,
    { text: 'API reference', collapsed: true, items: [{ text: 'Overview', link: '/api/' }, ...doors()] },
  ]
}

function doors() {
  if (!existsSync(`${pages}api`)) return []
  return readdirSync(`${pages}api`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ text: name === 'index' ? 'sessmgr' : `sessmgr/${name}`, link: `/api/${name}/` }))
}

/** Names a heading as GitHub does, so that one link works on both. */
function slugify(title) {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

function read(path) {
  return readFileSync(`${pages}${path}`, 'utf8')
}
