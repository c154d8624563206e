import { createSignal } from '../shell/signal.ts'
import { RestFailure, type Tagged } from './rest-client.ts'
import { serverNow } from './server-clock.ts'

/** Something to read from the server: an object, or a list page by page. */
export interface Query<T extends object> {
  /** Identifies the result. The first part names its subject. */
  readonly key: readonly unknown[]
  /** Returns the path of the route, for the first page or for the one at a cursor. */
  path(cursor?: string): string
  /** Returns the cursor of the next page, or undefined after the last one. */
  next?(page: T): string | undefined
  /** Whether all pages are read at once. */
  readonly isWhole?: boolean
  /** Whether a failure that may pass is shown at once. @default false: only after two more attempts */
  readonly failsAtOnce?: boolean
  /** How long a result counts as new, in milliseconds. @default 5000 */
  readonly freshMs?: number
}

/** A result as it was last read. */
export interface ReadState<T extends object> {
  /** Undefined if it was never read. */
  readonly pages: readonly Tagged<T>[] | undefined
  /** Why the last read failed, until a read succeeds. */
  readonly error: Error | undefined
  /** When it was last read, in milliseconds. */
  readonly at: number
  readonly isReading: 'again' | 'more' | false
}

/** A result that is kept, and the components that use it. */
export interface Entry<T extends object> {
  state(): ReadState<T>
  subscribe(listener: () => void): () => void
  /** Keeps the result up to date until the returned function is called. */
  use(): () => void
  /** Reads the result, or joins the read that is under way. Never rejects. */
  read(): Promise<void>
  /** Reads the result even if a read is under way. Never rejects. */
  readAnew(): Promise<void>
  /** Reads one more page. */
  readMore(): void
}

interface OwnEntry<T extends object> extends Entry<T> {
  query: Query<T>
  isUsed(): boolean
  /** Ignores a read that began earlier. */
  become(pages: readonly Tagged<T>[]): void
  /** Reads the result again if it is used, or else when it is used next. */
  expire(): Promise<void>
  readIfStale(): Promise<void>
}

/** How many results are kept although no component uses them. */
const MOST_UNUSED = 50
const RETRIES = 2
const RETRY_MS = 300

type Reread = <T extends object>(path: string, last: Tagged<T> | undefined) => Promise<Tagged<T>>

/** Keeps what the screen has read, so that components share it, and reads it again when the user comes back. */
export function createQueries(reread: Reread) {
  // biome-ignore lint/suspicious/noExplicitAny: each query knows the type of its own result.
  const entries = new Map<string, OwnEntry<any>>()

  function entryOf<T extends object>(query: Query<T>): OwnEntry<T> {
    const key = JSON.stringify(query.key)
    const entry: OwnEntry<T> = entries.get(key) ?? createEntry(query, reread)
    entry.query = query
    if (!entries.has(key)) {
      const unused = [...entries].filter(([, one]) => !one.isUsed())
      if (unused[0] && unused.length > MOST_UNUSED) entries.delete(unused[0][0])
      entries.set(key, entry)
    }
    return entry
  }

  const used = () => [...entries.values()].filter((entry) => entry.isUsed())
  window.addEventListener('online', () => used().forEach((entry) => void entry.read()))
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') for (const entry of used()) void entry.readIfStale()
  })

  return {
    entryOf: entryOf as <T extends object>(query: Query<T>) => Entry<T>,
    /** Returns the first page of a result, if it has been read. */
    get: <T extends object>(query: Query<T>) => entryOf(query).state().pages?.[0],
    /** Reads all pages without keeping them. Rejects with a RestFailure. */
    async read<T extends object>(query: Query<T>): Promise<readonly T[]> {
      const pages = await readPages({ ...query, isWhole: true, failsAtOnce: true }, reread, [], false)
      return pages.map(({ body }) => body)
    },
    /** Replaces a result. */
    set: <T extends object>(query: Query<T>, result: Tagged<T>) => entryOf(query).become([result]),
    /** Reads a result that no component uses yet, unless it is new. Never rejects. */
    load: <T extends object>(query: Query<T>) => entryOf(query).readIfStale(),
    /** Forgets a result. */
    remove: ({ key }: Pick<Query<object>, 'key'>) => void entries.delete(JSON.stringify(key)),
    /** Reads all results about a subject again, or all results. */
    async expire(subject?: unknown): Promise<void> {
      const about = [...entries.values()].filter(({ query }) => subject === undefined || query.key[0] === subject)
      await Promise.all(about.map((entry) => entry.expire()))
    },
  }
}

function createEntry<T extends object>(first: Query<T>, reread: Reread): OwnEntry<T> {
  const { value, become, subscribe } = createSignal<ReadState<T>>({
    pages: undefined,
    error: undefined,
    at: 0,
    isReading: false,
  })
  let users = 0
  let isExpired = false
  /** The latest read. The results of earlier ones are ignored. */
  let latest: Promise<void> | undefined

  function settle(pages: readonly Tagged<T>[]): void {
    latest = undefined
    isExpired = false
    const { pages: last = [] } = value()
    const isSame = pages.length === last.length && pages.every((page, index) => page === last[index])
    become({ pages: isSame ? last : pages, error: undefined, at: serverNow(), isReading: false })
  }

  function start(isReading: 'again' | 'more'): Promise<void> {
    const { pages = [] } = value()
    const own: Promise<void> = readPages(entry.query, reread, pages, isReading === 'more').then(
      (read) => {
        if (latest === own) settle(read)
      },
      (error: Error) => {
        if (latest !== own) return
        latest = undefined
        become({ ...value(), error, isReading: false })
      },
    )
    latest = own
    become({ ...value(), isReading })
    return own
  }

  const entry: OwnEntry<T> = {
    query: first,
    state: value,
    subscribe,
    isUsed: () => users > 0,
    use() {
      users += 1
      void entry.readIfStale()
      return () => {
        users -= 1
      }
    },
    become: settle,
    read: () => latest ?? start('again'),
    readAnew: () => start('again'),
    readMore: () => void start('more'),
    async readIfStale() {
      if (isExpired || serverNow() - value().at >= (entry.query.freshMs ?? 5_000)) await entry.read()
    },
    async expire() {
      isExpired = true
      latest = undefined
      if (users > 0) await start('again')
    },
  }
  return entry
}

/** Reads as many pages as before, one more after them, or all. The server does not resend unchanged pages. */
async function readPages<T extends object>(
  { path, next, isWhole = false, failsAtOnce = false }: Query<T>,
  reread: Reread,
  last: readonly Tagged<T>[],
  isMore: boolean,
): Promise<readonly Tagged<T>[]> {
  const pages = isMore ? [...last] : []
  const count = isWhole ? Number.POSITIVE_INFINITY : Math.max(1, last.length + (isMore ? 1 : 0))
  while (pages.length < count) {
    const before = pages.at(-1)
    const cursor = before && next?.(before.body)
    if (before && cursor === undefined) break
    const known = last[pages.length]
    pages.push(await withRetries(() => reread(path(cursor), known), failsAtOnce ? 0 : RETRIES))
  }
  return pages
}

async function withRetries<T>(call: () => Promise<T>, retries: number): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await call()
    } catch (error) {
      const mayPass = error instanceof RestFailure && error.isPassing
      if (!mayPass || failures === retries) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** failures))
  }
}
