// Gives the built script and style of the lazy comments as a module, to the build and to the tests alike.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export const ASSETS_MODULE = 'virtual:lazycomments-assets'

const source = (file) => fileURLToPath(new URL(`../src/browser/comments/${file}`, import.meta.url))

/** Builds the script and the style, and writes the module that holds both as texts. */
export async function assetsModule() {
  const built = async (file) => {
    const result = await build({
      entryPoints: [source(file)],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      target: 'es2022',
    })
    return JSON.stringify(result.outputFiles[0].text.trim())
  }
  return `export const script = ${await built('main.ts')}\nexport const style = ${await built('style.css')}\n`
}

/** For tsup. */
export const esbuildAssets = {
  name: 'lazycomments-assets',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${ASSETS_MODULE}$`) }, ({ path }) => ({ path, namespace: 'assets' }))
    onLoad({ filter: /.*/, namespace: 'assets' }, async () => ({ contents: await assetsModule(), loader: 'js' }))
  },
}

/** For vitest. */
export const viteAssets = {
  name: 'lazycomments-assets',
  resolveId: (id) => (id === ASSETS_MODULE ? `\0${ASSETS_MODULE}` : undefined),
  load: (id) => (id === `\0${ASSETS_MODULE}` ? assetsModule() : undefined),
}
