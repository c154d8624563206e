import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Loader, type Plugin } from 'esbuild'
import { esbuildAssets } from '../../../scripts/browser-assets.mjs'
import { esbuildLate } from '../../../scripts/late-modules.mjs'
import { esbuildLua } from '../../../scripts/lua-text.mjs'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
/** Where bundles are kept while they run. */
export const CACHE = join(ROOT, 'node_modules', '.cache', 'oracle')

/** A change to a source: a text that must occur in it exactly once, and what replaces it. */
export interface Edit {
  /** Path below the root of the repository. */
  readonly file: string
  readonly text: string
  readonly replacement: string
}

/** Timers of the bundle are those of its thread, which the oracle replaces. */
const timers: Plugin = {
  name: 'virtual-timers',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?timers\/promises$/ }, () => ({ path: 'timers', namespace: 'virtual-timers' }))
    onLoad({ filter: /./, namespace: 'virtual-timers' }, () => ({
      contents: `
        export const setTimeout = (ms, value) => new Promise((done) => void globalThis.setTimeout(done, ms, value))
        export const setImmediate = (value) => new Promise((done) => void globalThis.setImmediate(done, value))
      `,
    }))
  },
}

/** The admin screen is where the build has put it. */
const adminFolder: Plugin = {
  name: 'admin-folder',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^virtual:admin-folder$/ }, () => ({ path: 'admin-folder', namespace: 'admin-folder' }))
    onLoad({ filter: /./, namespace: 'admin-folder' }, () => ({
      contents: `export const adminFolder = () => ${JSON.stringify(join(ROOT, 'dist', 'admin'))}`,
    }))
  },
}

function editing(edits: readonly Edit[], root: string): Plugin {
  const missing = new Set(edits)
  return {
    name: 'edits',
    setup({ onLoad, onEnd }) {
      onLoad({ filter: /\.(ts|lua)$/ }, ({ path }) => {
        const own = edits.filter(({ file }) => join(root, file) === path)
        if (own.length === 0) return undefined
        let contents = readFileSync(path, 'utf8')
        for (const edit of own) {
          const parts = contents.split(edit.text)
          if (parts.length !== 2) throw new Error(`${edit.file} has ${parts.length - 1} times: ${edit.text}`)
          contents = parts.join(edit.replacement)
          missing.delete(edit)
        }
        return { contents, loader: 'ts' as Loader }
      })
      onEnd(() => {
        for (const { file } of missing) throw new Error(`${file} is no part of the rules`)
      })
    },
  }
}

interface BundleOptions {
  /** Changes to the sources. @default none */
  readonly edits?: readonly Edit[]
  /** @default false */
  readonly minify?: boolean
  /** Whether packages become a part of the bundle. Otherwise, it only runs in this checkout. @default 'bundle' */
  readonly packages?: 'bundle' | 'external'
  /** Other modules instead of these. @default none */
  readonly alias?: Readonly<Record<string, string>>
}

/**
 * Bundles a file of the repository with everything that it needs, so that the bundle runs by itself.
 *
 * @param entry Path below the root.
 */
export async function bundle(
  entry: string,
  outfile: string,
  { edits = [], minify = false, packages = 'bundle', alias = {} }: BundleOptions = {},
): Promise<string> {
  await build({
    entryPoints: [join(ROOT, entry)],
    outfile,
    bundle: true,
    minify,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    packages,
    alias,
    // Packages in CommonJS need require.
    banner: {
      js: "import { createRequire as oracleRequire } from 'node:module'; const require = oracleRequire(import.meta.url);",
    },
    plugins: [
      editing(edits, ROOT),
      adminFolder,
      timers,
      esbuildAssets as Plugin,
      esbuildLate as Plugin,
      esbuildLua as Plugin,
    ],
  })
  return outfile
}

/** Bundles the rules of this checkout: the driver, and all of `src/` that it uses. */
export function bundleRules(outfile: string, options: BundleOptions = {}): Promise<string> {
  return bundle('test/oracle/driver/driver.ts', outfile, options)
}
