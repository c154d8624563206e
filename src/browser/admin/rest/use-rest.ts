import type { InfiniteData, QueryKey, UseQueryResult } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { queries, rest } from '../screen.ts'
import { timeOfDay } from '../sessions/time-words.ts'
import { type TextKey, type Translate, useTexts } from '../texts/use-texts.ts'
import { RestFailure, type SignedIn, type Tagged } from './rest-client.ts'

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
  return useSyncExternalStore(subscribe, () => navigator.onLine)
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

/** Returns why there is no data. Keeps the last error during a retry, so that the message does not flicker. */
export function useFailure({ error, data }: Pick<UseQueryResult, 'error' | 'data'>): Error | undefined {
  const [last, setLast] = useState(error)
  if (error && error !== last) setLast(error)
  return (data === undefined && (error ?? last)) || undefined
}

/** Reads a page of a list. The server does not resend an unchanged page. */
export function rereadPage<T extends object>(queryKey: QueryKey, cursor: string, path: string): Promise<Tagged<T>> {
  const known = queries.getQueryData<InfiniteData<Tagged<T>, string>>(queryKey)
  return rest.reread<T>(path, known?.pages[known.pageParams.indexOf(cursor)])
}

/** Returns the options of a query that reads an object. The server does not resend an unchanged object. */
export function rereading<T extends object>(queryKey: QueryKey, path: string) {
  return {
    queryKey,
    queryFn: () => rest.reread<T>(path, queries.getQueryData<Tagged<T>>(queryKey)),
    select: ({ body }: Tagged<T>) => body,
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
