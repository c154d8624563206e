// Provides the built script and style of the lazy comments, and the folder of the built admin screen, as modules. The
// build and the tests both use them.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ASSETS_MODULE = 'virtual:lazycomments-assets'
const FOLDER_MODULE = 'virtual:admin-folder'
const builtFolder = fileURLToPath(new URL('../dist/admin', import.meta.url))

const source = (file) => fileURLToPath(new URL(`../src/browser/comments/${file}`, import.meta.url))

/** Builds the script and the style, and returns a module that exports both as strings. */
async function assetsModule() {
  const built = async (file) => {
    const result = await build({
      entryPoints: [source(file)],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      metafile: true,
    })
    const foreign = Object.keys(result.metafile.inputs).find((input) => input.includes('node_modules/'))
    if (foreign) throw new Error(`The script for readers must not have dependencies, but it imports ${foreign}.`)
    return JSON.stringify(result.outputFiles[0].text.trim())
  }
  return `export const script = ${await built('lazy-comments.ts')}\nexport const style = ${await built('style.css')}\n`
}

/**
 * Returns the module that finds the admin screen's folder: next to the built package, or next to the bundle that
 * contains it.
 *
 * Bundlers also read this module. One of them leaves `import.meta` empty when it converts ES modules to CommonJS, and
 * another treats `new URL('./admin', import.meta.url)` as an asset. It exports a function, so that a bundle without the
 * screen can load.
 */
function folderModule(format) {
  const here = 'import.meta.url ? dirname(fileURLToPath(import.meta.url)) : __dirname'
  return `import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
export const adminFolder = () => join(${format === 'cjs' ? '__dirname' : here}, 'admin')
`
}

/** For tsup. */
export const esbuildAssets = {
  name: 'browser-assets',
  setup({ onResolve, onLoad, initialOptions: { format } }) {
    onResolve({ filter: new RegExp(`^(${ASSETS_MODULE}|${FOLDER_MODULE})$`) }, ({ path }) => ({
      path,
      namespace: 'assets',
    }))
    onLoad({ filter: new RegExp(`^${ASSETS_MODULE}$`), namespace: 'assets' }, async () => ({
      contents: await assetsModule(),
    }))
    onLoad({ filter: new RegExp(`^${FOLDER_MODULE}$`), namespace: 'assets' }, () => ({
      contents: folderModule(format),
    }))
  },
}

/** For vitest: the admin screen is where the build has put it. */
export const viteAssets = {
  name: 'browser-assets',
  resolveId: (id) => (id === ASSETS_MODULE || id === FOLDER_MODULE ? `\0${id}` : undefined),
  load(id) {
    if (id === `\0${ASSETS_MODULE}`) return assetsModule()
    if (id === `\0${FOLDER_MODULE}`) return `export const adminFolder = () => ${JSON.stringify(builtFolder)}`
  },
}

/** For rolldown. */
export const assetsOf = (format) => ({
  ...viteAssets,
  load: (id) => (id === `\0${FOLDER_MODULE}` ? folderModule(format) : viteAssets.load(id)),
})
