import { type Logger, warnOnce } from '../../ground/logger.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { Directory, DirectoryParts } from './directory.ts'

const NO_INDEX =
  'The option "directory" has no effect, because the store has no index of people. Remove it, or use memoryStore(), ' +
  'sqliteStore(), postgresStore(), redisStore() or documentStore().'

interface OpenedDirectory {
  /** Undefined without the option `directory`, or if the store has no index. */
  readonly directory: Promise<Directory> | undefined
  /** Notes a change, if there is a directory. Does not wait. */
  noteInDirectory(note: (directory: Directory) => void): void
}

/** Opens the directory if the option asks for it. Few applications need its code, so it is loaded on demand. */
export function openDirectory(
  parts: { readonly store: SessmgrStore; readonly logger: Logger; readonly deadlineMs: number },
  isWanted: boolean | undefined,
  countOf: DirectoryParts['countOf'],
): OpenedDirectory {
  const index = parts.store.people
  if (isWanted && !index) warnOnce(parts.logger, 'directory-is-incomplete', NO_INDEX)
  if (!isWanted || !index) return { directory: undefined, noteInDirectory() {} }
  const { logger, deadlineMs } = parts
  const directory = import('./directory.ts').then((late) =>
    late.createDirectory({ index, logger, deadlineMs, countOf }),
  )
  // An update in place may have removed the file.
  directory.catch(() => {})
  return { directory, noteInDirectory: (note) => void directory.then(note).catch(() => {}) }
}
