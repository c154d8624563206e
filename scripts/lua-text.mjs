// Loads Lua scripts as strings, for both the build and the tests. Strips comments and indentation, which make up most
// of a script and would otherwise be loaded by the application and sent to Redis.
import { readFile } from 'node:fs/promises'

/** Removes comments on their own lines, indentation and empty lines from a Lua script. */
function luaText(source) {
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
