import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './pages.ts'

const tsc = join(ROOT, 'node_modules/typescript7/bin/tsc')

/** An error of the compiler, with the first line of its text. */
export interface CompilerError {
  readonly file: string
  readonly line: number
  readonly code: number
  readonly text: string
}

/**
 * Writes files into a folder and returns what TypeScript 7 says of them: in a tenth of the time that the API of the
 * version before takes. A folder in which one file has a fault of syntax has no errors of types.
 */
export function typeErrors(folder: string, files: Readonly<Record<string, string>>, options: object) {
  mkdirSync(folder, { recursive: true })
  const config = { compilerOptions: { noEmit: true, skipLibCheck: true, ...options }, files: Object.keys(files) }
  const all = { ...files, 'tsconfig.json': JSON.stringify(config) }
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text)
  const run = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
    env: { GOGC: '400', ...process.env },
  })
  const errors = [...run.stdout.matchAll(/^(?:([^\s(][^(\n]*)\((\d+),\d+\): )?error TS(\d+): (.*)/gm)].map(
    ([, file = '', line, code, text = '']): CompilerError => ({ file, line: Number(line), code: Number(code), text }),
  )
  if ((run.status === 0) !== (errors.length === 0)) throw new Error(`The compiler failed: ${run.stdout}${run.stderr}`)
  return errors
}
