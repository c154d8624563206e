import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { queries, rest } from '../screen.ts'
import { timeOfDay } from '../sessions/time-words.ts'
import { createChanges } from '../shell/signal.ts'
import { type TextKey, type Translate, useTexts } from '../texts/use-texts.ts'
import type { Query } from './queries.ts'
import { RestFailure, type SignedIn } from './rest-client.ts'

/**
 * Returns a function that describes a failure by the server's message, or else by `fallback`. If the response is not
 * from sessmgr, the text names the URL, because the routes are probably mounted elsewhere.
 */
export function useFailureText(): (error: unknown, fallback?: TextKey) => string {
  const t = useTexts()
  return (error, fallback) => {
    const failed = fallback ? t(fallback) : ''
    if (!(error instanceof RestFailure)) return failed
    const { status, code, call, params, message, retryAt } = error
    // Without a response, a call that ends sessions may or may not have ended them.
    if (status === 0) return t(fallback === 'end_failed' || fallback === 'all_failed' ? 'end_unknown' : 'no_answer')
    if (code === 'rest_cookie_invalid_nonce' || (status === 401 && rest.signedIn() === 'no'))
      return t('signed_out_short')
    // Often from a rate limiter before sessmgr, whose response has a format of its own.
    if (status === 429) return `${failed} ${tooMany(t, retryAt)}`.trim()
    if (code === undefined) return `${failed} ${t(keyOf(status), { call, status })}`.trim()
    const details = Object.entries(params).map(([name, problem]) => `${name}: ${problem}`)
    return [message || failed, ...details].join(' ').trim()
  }
}

/** Returns the text with the time to try again, rounded up to a minute. */
function tooMany(t: Translate, retryAt: number | undefined): string {
  return retryAt === undefined ? t('too_many') : t('too_many_until', { time: timeOfDay(retryAt + 59_999) })
}

/** Selects the text for a response that is not from sessmgr. */
function keyOf(status: number): TextKey {
  if (status >= 500) return 'bad_answer'
  return status < 300 ? 'no_json' : 'no_routes'
}

/** Returns whether the user is still signed in, and re-renders when this changes. */
export function useSignedIn(): SignedIn {
  return useSyncExternalStore(rest.subscribe, rest.signedIn)
}

/** How often a visible list is read again. */
const REFRESH_MS = 10_000

/** Returns the refresh interval of a visible list, or false while the user is signed out. */
export function useRefreshMs(): number | false {
  return useSignedIn() === 'yes' && REFRESH_MS
}

/** Checks whether the browser is online. */
export function useOnline(): boolean {
  return useSyncExternalStore(online.subscribe, () => navigator.onLine)
}

const online = createChanges()
window.addEventListener('online', online.tell)
window.addEventListener('offline', online.tell)

/** A result as components see it. */
export interface Read<T> {
  /** The object, or the first page of a list. Undefined if it was never read. */
  readonly data: T | undefined
  readonly pages: readonly T[] | undefined
  /** Why the last read failed, until a read succeeds. */
  readonly error: Error | undefined
  /** When it was last read, in milliseconds. */
  readonly at: number
  readonly isReading: boolean
  readonly isReadingMore: boolean
  readonly hasMore: boolean
  /** Reads the result again. Resolves to the pages as they are then. */
  read(): Promise<readonly T[] | undefined>
  /** Reads one more page. */
  readMore(): void
}

interface ReadOptions<T> {
  /** Whether the result is needed. @default true */
  isNeeded?: boolean
  /** Returns the interval in milliseconds at which the result is read again while the page is visible. */
  everyMs?: (pages: readonly T[]) => number | false
}

/** Reads from the server, once for all components with the same query. */
export function useQuery<T extends object>(
  query: Query<T>,
  { isNeeded = true, everyMs }: ReadOptions<T> = {},
): Read<T> {
  const entry = queries.entryOf(query)
  const { pages: tagged, error, at, isReading } = useSyncExternalStore(entry.subscribe, entry.state)
  useEffect(() => (isNeeded ? entry.use() : undefined), [entry, isNeeded])
  const pages = useMemo(() => tagged?.map(({ body }) => body), [tagged])
  const interval = isNeeded && everyMs?.(pages ?? [])
  useEffect(() => {
    if (!interval) return
    const timer = setInterval(() => document.visibilityState === 'visible' && void entry.read(), interval)
    return () => clearInterval(timer)
  }, [entry, interval])
  const last = pages?.at(-1)
  return {
    data: pages?.[0],
    pages,
    error,
    at,
    isReading: isReading !== false,
    isReadingMore: isReading === 'more',
    hasMore: last !== undefined && query.next?.(last) !== undefined,
    async read() {
      await entry.readAnew()
      return entry.state().pages?.map(({ body }) => body)
    },
    readMore: entry.readMore,
  }
}

/**
 * Returns the debounced value, so that not every key press starts a call.
 *
 * @param pauseMs How long `value` must stay unchanged.
 */
export function useSettled<T>(value: T, pauseMs: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return settled
}
