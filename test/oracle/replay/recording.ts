import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { CACHE, ROOT } from './bundle.ts'

const FOLDER = join(ROOT, 'test', 'oracle', 'recorded')

/** What a recording says of itself. */
export interface About {
  readonly histories: number
  readonly commands: number
  /** The commit whose rules were recorded. */
  readonly commit: string
}

/** Compresses text well, however long it takes. */
function pack(text: string | Buffer): Buffer {
  const size = Buffer.byteLength(text)
  return brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: size,
    },
  })
}

/** Keeps the recorded rules, as one file of code. */
export function writeRules(bundled: string): void {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'rules.mjs.br'), pack(readFileSync(bundled)))
}

/** Unpacks the recorded rules, and returns the path of their code. */
export function recordedRules(): string {
  const packed = join(FOLDER, 'rules.mjs.br')
  if (!existsSync(packed)) throw new Error('Nothing is recorded. Run: npx tsx test/oracle/run.ts --record')
  mkdirSync(CACHE, { recursive: true })
  const path = join(CACHE, `recorded-${process.pid}.mjs`)
  writeFileSync(path, brotliDecompressSync(readFileSync(packed)))
  return path
}

/** Keeps the hashes of the random histories. */
export function writeHashes(about: About, hashes: Uint16Array): void {
  writeFileSync(join(FOLDER, 'about.json'), `${JSON.stringify(about, null, 2)}\n`)
  writeFileSync(join(FOLDER, 'hashes.bin'), Buffer.from(hashes.buffer, hashes.byteOffset, hashes.byteLength))
}

export function readHashes(): { readonly about: About; readonly hashes: Uint16Array } {
  const bytes = readFileSync(join(FOLDER, 'hashes.bin'))
  const hashes = new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
  return { about: JSON.parse(readFileSync(join(FOLDER, 'about.json'), 'utf8')) as About, hashes }
}

/** Keeps transcripts in words. */
export function writeWords(name: string, words: readonly string[]): void {
  writeFileSync(join(FOLDER, `${name}.txt.br`), pack(words.join('\n\n')))
}

export function readWords(name: string): readonly string[] {
  return brotliDecompressSync(readFileSync(join(FOLDER, `${name}.txt.br`)))
    .toString()
    .split('\n\n')
}
