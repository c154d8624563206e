import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Format } from 'esbuild'
import { ownFolder } from './own-folder.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Bundles a program that uses the built package, as applications do. Returns the folder of the bundle, and how to run it. */
export async function bundleProgram(contents: string, format: Format) {
  const folder = ownFolder()
  const outfile = join(folder, format === 'esm' ? 'app.mjs' : 'app.cjs')
  // What a CommonJS dependency requires has to be found in an ES module, too.
  const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
  await build({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    platform: 'node',
    format,
    outfile,
    logLevel: 'error',
    // The built package, and not its sources, to which the paths of this project lead.
    tsconfigRaw: {},
    ...(format === 'esm' && { banner: { js: banner } }),
  })
  return { folder, run: () => spawnSync(process.execPath, [outfile], { encoding: 'utf8' }) }
}
