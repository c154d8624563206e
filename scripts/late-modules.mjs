// Lets synchronous code load a module on first use. ES modules cannot do that with import(), so the build writes these
// modules as CommonJS files of their own, next to the doors.
import { fileURLToPath } from 'node:url'

/** The modules, by the names of their files in dist/. */
export const LATE = { 'late-texts': 'src/texts/english.ts' }

const PREFIX = 'virtual:'
const sourceOf = (id) => {
  const source = id.startsWith(PREFIX) ? LATE[id.slice(PREFIX.length)] : undefined
  return source && fileURLToPath(new URL(`../${source}`, import.meta.url))
}

/** In CommonJS, and in a bundle of a single file, the module is a function that runs on first use. */
const insideDoor = (source) => `export const load = () => require(${JSON.stringify(source)})\n`

/** A bundler that converts ES modules to CommonJS may leave `import.meta` empty. */
const besideDoor = (name) => `export const load = () =>
  process.getBuiltinModule('node:module').createRequire(import.meta.url || __filename)('./${name}.cjs')
`

/** For tsup. */
export const esbuildLate = {
  name: 'late-modules',
  setup({ onResolve, onLoad, initialOptions: { format, outfile } }) {
    onResolve({ filter: /^virtual:/ }, ({ path }) => (sourceOf(path) ? { path, namespace: 'late' } : undefined))
    onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({
      contents: format === 'cjs' || outfile ? insideDoor(sourceOf(path)) : besideDoor(path.slice(PREFIX.length)),
      resolveDir: fileURLToPath(new URL('..', import.meta.url)),
    }))
  },
}

/** For Vite, which loads everything at once. */
export const viteLate = {
  name: 'late-modules',
  resolveId: (id) => (sourceOf(id) ? `\0${id}` : undefined),
  load(id) {
    const source = id.startsWith('\0') ? sourceOf(id.slice(1)) : undefined
    return source && `import * as module from ${JSON.stringify(source)}\nexport const load = () => module\n`
  },
}

/** For rolldown. Bundlers follow a plain require(), so what they make of the CommonJS door has all modules. */
export const lateModulesOf = (format) => ({
  name: 'late-modules',
  resolveId(id) {
    if (Object.keys(LATE).some((name) => id === `./${name}.cjs`)) return { id, external: true }
    return viteLate.resolveId(id)
  },
  load(id) {
    if (!viteLate.load(id)) return undefined
    const name = id.slice(PREFIX.length + 1)
    return format === 'cjs' ? `export const load = () => require('./${name}.cjs')\n` : besideDoor(name)
  },
})
