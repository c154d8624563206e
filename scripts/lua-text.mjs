// Gives a Lua script as a string, to the build and to the tests alike: without its comments and its indentation, which
// are most of it, and which Redis would be sent and the application would load for nothing.
import { readFile } from 'node:fs/promises'

/** Takes comments that have lines of their own, indentation and empty lines out of a Lua script. */
export function luaText(source) {
  return source
    .replaceAll(/^--\[\[[\s\S]*?^\]\]$/gm, '')
    .replaceAll(/^[ \t]*--.*$/gm, '')
    .replaceAll(/^[ \t]+/gm, '')
    .replaceAll(/\n{2,}/g, '\n')
    .trim()
}

/** For tsup. */
export const esbuildLua = {
  name: 'lua-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.lua$/ }, async ({ path }) => ({
      contents: luaText(await readFile(path, 'utf8')),
      loader: 'text',
    }))
  },
}

/** For Vite. */
export const viteLua = {
  name: 'lua-text',
  transform: (code, id) => (id.endsWith('.lua') ? `export default ${JSON.stringify(luaText(code))}` : undefined),
}
