import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The modules that only some tabs need: each tab has its own file, and those with lists share one more. */
const OF_TABS =
  /admin.(tabs.(?!addons-query)|sessions.(people.people-|person|table|search|keyboard)|parts.menu|options.(save-|who-)|texts.(?!shell|use|locale)|styles.(?!tokens|frame|parts|print))/

/** Leaves a list of what is bundled, for the file with the licenses. */
const listInputs: Plugin = {
  name: 'list-inputs',
  writeBundle({ dir = '' }, bundle) {
    const chunks = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? [file] : []))
    const files = chunks.flatMap(({ modules }) =>
      Object.keys(modules).map((id) => id.replace(/^\0/, '').split('?', 1)[0]),
    )
    const inputs = Object.fromEntries(
      files.flatMap((file) => /node_modules\/.*/.exec(file ?? '') ?? []).map((path) => [path, {}]),
    )
    writeFileSync(join(dir, '../metafile-admin.json'), JSON.stringify({ inputs }))
  },
}

/** Builds the admin screen into the package. */
export default defineConfig({
  root: here('../src/browser/admin'),
  // The screen finds its own files wherever the application mounts it.
  base: './',
  plugins: [react(), listInputs],
  logLevel: 'warn',
  build: {
    outDir: here('../dist/admin'),
    emptyOutDir: true,
    target: 'es2022',
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: {
      // package.json need not name a homepage.
      checks: { importIsUndefined: false },
      input: here('../src/browser/admin/main.tsx'),
      // Each file is a request, so the frame is one file, with all that the tabs need of it.
      output: {
        codeSplitting: {
          groups: [
            { name: 'main', test: (id) => !OF_TABS.test(id), priority: 1 },
            { name: 'lists', minShareCount: 2 },
          ],
        },
      },
    },
  },
})
