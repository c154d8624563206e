// Gives the built script and style of the lazy comments, and the place of the built admin screen, as modules, to the
// build and to the tests alike.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ASSETS_MODULE = 'virtual:lazycomments-assets'
const FOLDER_MODULE = 'virtual:admin-folder'
// What runs in the browser in a form that can be traced back to its sources, while coverage is measured.
const traced = process.env.COVERAGE_OF_PAGES
const builtFolder = traced ? join(traced, 'admin') : fileURLToPath(new URL('../dist/admin', import.meta.url))

const source = (file) => fileURLToPath(new URL(`../src/browser/comments/${file}`, import.meta.url))

/** Builds the script and the style, and writes the module that holds both as texts. */
async function assetsModule() {
  const built = async (file) => {
    const result = await build({
      entryPoints: [source(file)],
      bundle: true,
      minify: !traced,
      sourcemap: traced ? 'inline' : false,
      write: false,
      format: 'esm',
      target: 'es2022',
      metafile: true,
    })
    const foreign = Object.keys(result.metafile.inputs).find((input) => input.includes('node_modules/'))
    if (foreign) throw new Error(`The script that readers get depends on nothing, so it may not import ${foreign}.`)
    return JSON.stringify(result.outputFiles[0].text.trim())
  }
  return `export const script = ${await built('main.ts')}\nexport const style = ${await built('style.css')}\n`
}

/**
 * Writes the module that tells where the admin screen is: beside the built package, or beside the bundle that this is in.
 *
 * Bundlers read it too. One leaves `import.meta` empty as it makes CommonJS of the ES module, and another takes
 * `new URL('./admin', import.meta.url)` for an asset. It is a function, so that a bundle without the screen loads.
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
    onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: 'assets' }))
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
