// Builds the main door, for import and for require. Rolldown puts everything that a start needs into one file, from which
// the parts that are loaded on demand import. esbuild, which builds the other doors, would split it into twenty files,
// and loading those takes longer than running them.
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { assetsOf } from './browser-assets.mjs'
import { lateModulesOf } from './late-modules.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const DEPENDENCIES = ['cookie', 'isbot', 'jose', 'on-headers']

/** Writes the door and its parts to dist/. */
export async function buildDoor() {
  for (const format of /** @type {const} */ (['esm', 'cjs'])) {
    const bundle = await rolldown({
      cwd: root,
      input: { index: 'src/index.ts' },
      platform: 'node',
      transform: { target: 'node20' },
      treeshake: { moduleSideEffects: false },
      // package.json need not name a homepage.
      checks: { importIsUndefined: false },
      external: [...DEPENDENCIES, /^node:/],
      plugins: [assetsOf(format), lateModulesOf(format)],
    })
    const extension = format === 'cjs' ? 'cjs' : 'js'
    const { output } = await bundle.write({
      dir: 'dist',
      format,
      exports: 'named',
      strict: true,
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `[name]-[hash].${extension}`,
      codeSplitting: { groups: [{ name: 'main', tags: ['$initial'] }] },
      // Jest, as it comes, has no import() in CommonJS. Every Node in package.json's engines can require an ES module.
      dynamicImportInCjs: false,
      comments: false,
      // Stacks and debuggers show the names of the sources, and an uncaught error its line: Node would print a whole file of
      // one line.
      minify: { compress: true, mangle: false, codegen: false },
    })
    await bundle.close()
    recordInputs(format, output)
  }
}

/** Leaves a list of what is bundled, for the file with the licenses. */
function recordInputs(format, output) {
  const files = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  const inputs = Object.fromEntries(files.map((file) => [relative(root, file), {}]))
  writeFileSync(new URL(`../dist/metafile-main-${format}.json`, import.meta.url), JSON.stringify({ inputs }))
}
