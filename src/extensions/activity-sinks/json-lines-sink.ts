import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { checkCursor, isOf, pageOf } from '../../extend.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { type Declared, requireBoolean, resolveDeclared } from '../../ground/option-checks.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { AuditEvent, AuditQuery, AuditSink } from '../../index.ts'

/** Options of jsonLinesSink(). */
export interface JsonLinesSinkOptions {
  /** Whether a write waits until the events are on disk. @default false */
  readonly sync?: boolean | undefined
}

const OPTIONS = { sync: [requireBoolean, false] } as const satisfies Declared<JsonLinesSinkOptions>

const DATE = '{date}'
/** Maximum number of lines to read for a page. */
const MOST_READ = 10_000

/**
 * Creates a sink that appends events to a file, one JSON object per line. New files get mode 0600.
 *
 * With `{date}` in the path, there is one file per UTC day, and files older than `retentionDays` are deleted.
 * Otherwise, rotate the file yourself. `forget` overwrites lines with spaces, but not in rotated files.
 *
 * @throws SessmgrError `invalid_option` for an invalid path, or an unknown or invalid option.
 * @example
 * sessmgr({ audit: { sink: jsonLinesSink('/var/log/app/audit-{date}.jsonl') } })
 */
export function jsonLinesSink(
  path: string,
  options: JsonLinesSinkOptions = {},
): AuditSink & Required<Pick<AuditSink, 'forget'>> {
  if (typeof path !== 'string' || path === '' || dirname(path).includes(DATE)) {
    throw invalidOption('jsonLinesSink() needs a file path. Only the file name may contain {date}, not a folder')
  }
  const { sync } = resolveDeclared(OPTIONS, options, { caller: 'jsonLinesSink' })
  const files = new DatedFiles(path)
  /** Whether the file may end in the middle of a line, because a write has failed. */
  let isUnsure = true

  async function write(events: readonly AuditEvent[]): Promise<void> {
    // Opened each time, because log rotation may have moved the file.
    const file = await open(files.current(), 'a+', 0o600)
    try {
      const start = isUnsure && (await isCut(file)) ? '\n' : ''
      isUnsure = true
      await file.appendFile(start + events.map((event) => `${JSON.stringify(event)}\n`).join(''))
      if (sync) await file.datasync()
      isUnsure = false
    } finally {
      await file.close()
    }
  }

  return {
    write,
    read: (query) => readFiles(files, query),
    async prune(before) {
      // Opening the file reports a wrong path when the application starts, not at the first event.
      await (await open(files.current(), 'a', 0o600)).close()
      const last = new Date(before).toISOString().slice(0, 10)
      if (files.isDated)
        for (const date of await files.dates()) if (date < last) await rm(files.of(date), { force: true })
    },
    async forget(user, before) {
      let count = 0
      for (const date of await files.dates()) count += await blankLines(files.of(date), user, before)
      return count
    },
  }
}

/**
 * Overwrites the events of a user with spaces, and returns how many there were. The file keeps its length, so other
 * processes can append to it and read it meanwhile.
 */
async function blankLines(path: string, user: UserId, before: number | undefined): Promise<number> {
  const file = await opened(path, 'r+')
  if (!file) return 0
  let count = 0
  try {
    const { size } = await file.stat()
    for await (const { text, start, length } of linesBackward(file, size)) {
      const event = parsed(text)
      // Also overwrite cut-off lines, which may be about the user, except at the end, where a write may be in progress.
      const isCut = !event && text.startsWith('{"id":') && start + length < size
      if (!isCut && !(event && isOf(event, user, before))) continue
      await file.write(Buffer.alloc(length, ' '), 0, length, start)
      if (event) count += 1
    }
    if (count > 0) await file.datasync()
  } finally {
    await file.close()
  }
  return count
}

async function readFiles(files: DatedFiles, query: AuditQuery) {
  checkCursor(query.cursor, /^(-|\d{4}-\d\d-\d\d):\d{1,15}$/)
  const created = await createdAt(files.of((await files.dates()).at(-1) ?? '-'))
  const page = await pageOf(linesOf(files, query.cursor), query, MOST_READ)
  // A copied file may have been created after its events.
  return { ...page, since: created && Math.min(created, ...page.events.map(({ at }) => at)) }
}

/** Reads the lines of all files, last line first. */
async function* linesOf(files: DatedFiles, cursor: string | undefined) {
  const [startDate, startEnd] = cursor?.split(':') ?? []
  const dates = (await files.dates()).filter((date) => startDate === undefined || date <= startDate)
  for (const date of dates) {
    const file = await opened(files.of(date))
    if (!file) continue
    try {
      const { size } = await file.stat()
      const end = date === startDate ? Math.min(Number(startEnd), size) : size
      for await (const { text, start } of linesBackward(file, end)) {
        const isLast = start === 0 && date === dates.at(-1)
        yield { event: parsed(text), next: isLast ? undefined : `${date}:${start}` }
      }
    } finally {
      await file.close()
    }
  }
}

async function opened(path: string, flags = 'r'): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined
    throw error
  }
}

/** Checks whether a file ends in the middle of a line. */
async function isCut(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat()
  if (size === 0) return false
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer.toString() !== '\n'
}

async function createdAt(path: string): Promise<number | undefined> {
  const { birthtimeMs } = await stat(path).catch(() => ({ birthtimeMs: 0 }))
  return birthtimeMs > 0 ? Math.floor(birthtimeMs) : undefined
}

/** Parses a line. Returns undefined if it was cut off, for example because the disk was full. */
function parsed(line: string): AuditEvent | undefined {
  try {
    return JSON.parse(line) as AuditEvent
  } catch {
    return undefined
  }
}

/** The files for a path that may contain `{date}`. Without it, there is a single file, whose date is `-`. */
class DatedFiles {
  readonly isDated: boolean
  readonly #path: string

  constructor(path: string) {
    this.#path = path
    this.isDated = path.includes(DATE)
  }

  current(): string {
    return this.of(new Date().toISOString().slice(0, 10))
  }

  of(date: string): string {
    return this.#path.replaceAll(DATE, date)
  }

  /** Lists the dates of the files, latest first. */
  async dates(): Promise<readonly string[]> {
    if (!this.isDated) return ['-']
    const name = basename(this.#path)
    const dates = (await readdir(dirname(this.#path))).flatMap((file) => {
      const [date] = /\d{4}-\d\d-\d\d/.exec(file) ?? []
      return date !== undefined && file === name.replaceAll(DATE, date) ? [date] : []
    })
    return dates.toSorted().toReversed()
  }
}

const BLOCK = 65_536
const NEWLINE = 10

/** A line of a file, the position at which it begins, and its length in bytes without the newline. */
interface FileLine {
  readonly text: string
  readonly start: number
  readonly length: number
}

/** Reads the lines that end before a position, last line first. Keeps only one block and one line in memory. */
async function* linesBackward(file: FileHandle, end: number): AsyncGenerator<FileLine> {
  let rest: Buffer = Buffer.alloc(0)
  for (let position = end; position > 0; ) {
    const size = Math.min(BLOCK, position)
    position -= size
    const block = Buffer.alloc(size)
    const { bytesRead } = await file.read(block, 0, size, position)
    let text = Buffer.concat([block.subarray(0, bytesRead), rest])
    for (let newline = text.lastIndexOf(NEWLINE); newline !== -1; newline = text.lastIndexOf(NEWLINE)) {
      const line = text.subarray(newline + 1)
      if (line.length > 0) yield { text: line.toString(), start: position + newline + 1, length: line.length }
      text = text.subarray(0, newline)
    }
    rest = Buffer.from(text)
  }
  if (rest.length > 0) yield { text: rest.toString(), start: 0, length: rest.length }
}
