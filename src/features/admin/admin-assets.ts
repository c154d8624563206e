import { readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { invalidOption } from '../../ground/invalid-option.ts'

/** A built file for the browser. Its name changes with its content. */
export interface AdminAsset {
  readonly type: string
  readonly bytes: Buffer
  readonly gzipped: Buffer
  /** Compressed with Brotli. Undefined at first, because Brotli takes longer than gzip. */
  brotli?: Buffer
}

/** Names of the files that the page loads first. */
export interface AdminEntry {
  readonly script: string
  /** Modules to preload: the script's imports, and the modules that were asked for. */
  readonly modules: readonly string[]
  readonly styles: readonly string[]
}

/** The admin screen's built files, read on demand. */
interface AdminAssets {
  /** Returns the files that the page loads first. `needed` names modules that would otherwise be loaded on demand. */
  entry(needed?: readonly string[]): Promise<AdminEntry>
  /** Reads a file, or returns undefined if it is not part of the build. */
  find(name: string): Promise<AdminAsset | undefined>
}

interface Chunk {
  readonly file: string
  readonly name?: string
  readonly isEntry?: boolean
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** Creates the reader of a folder of built files. It reads each file once. */
export function createAdminAssets(folder: string): AdminAssets {
  let reading: Promise<Readonly<Record<string, Chunk>>> | undefined
  const files = new Map<string, Promise<AdminAsset>>()

  function manifest(): Promise<Readonly<Record<string, Chunk>>> {
    reading ??= readFile(join(folder, 'manifest.json'), 'utf8').then(JSON.parse)
    reading.catch(() => {
      reading = undefined
    })
    return reading
  }

  async function read(file: string): Promise<AdminAsset> {
    const bytes = await readFile(join(folder, file))
    const gzipped = await promisify(gzip)(bytes, { level: 9 })
    const asset: AdminAsset = { type: TYPES[extname(file)] ?? 'application/octet-stream', bytes, gzipped }
    void promisify(brotliCompress)(bytes).then(
      (brotli) => {
        asset.brotli = brotli
      },
      () => {},
    )
    return asset
  }

  return {
    async entry(needed = []) {
      const chunks = await manifest()
      const entry = Object.values(chunks).find(({ isEntry }) => isEntry)
      if (!entry) throw invalidOption(`The admin screen build in ${folder} has no entry file`)
      const late = needed.flatMap((part) => Object.values(chunks).filter(({ name }) => name === part))
      // Imports come first, because a chunk's style sheet may change the rules of theirs.
      const all = new Set([entry, ...late].flatMap((chunk) => [...importedBy(chunk, chunks), chunk]))
      return {
        script: basename(entry.file),
        modules: [...all].filter((chunk) => chunk !== entry).map(({ file }) => basename(file)),
        styles: [...all].flatMap(({ css = [] }) => css).map((file) => basename(file)),
      }
    },
    async find(name) {
      const built = Object.values(await manifest()).flatMap(({ file, css = [] }) => [file, ...css])
      const file = built.find((path) => basename(path) === name)
      if (file === undefined) return undefined
      const asset = files.get(file) ?? read(file)
      files.set(file, asset)
      asset.catch(() => files.delete(file))
      return asset
    },
  }
}

/** Returns all chunks that a chunk imports statically, directly or indirectly. */
function importedBy(chunk: Chunk, chunks: Readonly<Record<string, Chunk>>, seen = new Set<Chunk>()): Chunk[] {
  for (const name of chunk.imports ?? []) {
    const imported = chunks[name]
    if (!imported || seen.has(imported)) continue
    seen.add(imported)
    importedBy(imported, chunks, seen)
  }
  return [...seen]
}
