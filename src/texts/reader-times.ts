import type { Say } from './texts-for.ts'

/** A point in time, in the reader's language. Times of day are in UTC, because the reader's time zone is unknown. */
export interface ReaderTime {
  /** The time in ISO 8601, such as `2026-11-21T21:11:00Z`. */
  readonly iso: string
  /** How long ago the time was, such as "2 hours ago". */
  readonly ago: string
  /** The date, such as "3 Nov 2026". */
  readonly date: string
  /** Date and time, such as "21 Nov 2026, 21:11 UTC". */
  readonly exact: string
  /** The time of day, such as "21:11 UTC". */
  readonly time: string
  /** The time of day with seconds, such as "21:11:08 UTC". */
  readonly seconds: string
  /** Whether the time is today, in UTC. */
  readonly isToday: boolean
}

const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** Returns a function that formats times in the reader's language. */
export function readerTimes(say: Say, now: number): (at: number) => ReaderTime {
  const locale = localeOf(say('lang'))
  const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const ofDay = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' } as const
  const time = new Intl.DateTimeFormat(locale, ofDay)
  const seconds = new Intl.DateTimeFormat(locale, { ...ofDay, second: '2-digit' })
  const relative = (seconds: number) => {
    const [unit, length] = UNITS.find(([, length]) => seconds >= length) ?? ['second', Number.POSITIVE_INFINITY]
    return ago.format(-Math.floor(seconds / length), unit)
  }
  return (at) => ({
    iso: `${new Date(at).toISOString().slice(0, 19)}Z`,
    ago: relative(Math.max(0, (now - at) / 1000)),
    date: date.format(at),
    exact: `${date.format(at)}, ${time.format(at)} UTC`,
    time: `${time.format(at)} UTC`,
    seconds: `${seconds.format(at)} UTC`,
    isToday: date.format(at) === date.format(now),
  })
}

const LENGTHS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Formats a duration, such as "30 minutes", in the reader's language. Uses the largest unit that divides it. */
export function readerDuration(say: Say, ms: number): string {
  const minutes = Math.ceil(ms / 60_000) * 60_000
  const [unit, length] = LENGTHS.find(([, length]) => minutes % length === 0) ?? LENGTHS[2]
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const
  return new Intl.NumberFormat(localeOf(say('lang')), style).format(minutes / length)
}

/**
 * Returns a locale that Intl accepts. English becomes British English, because most of the world writes the day before
 * the month.
 */
function localeOf(lang: string): string {
  if (lang === 'en') return 'en-GB'
  try {
    return Intl.getCanonicalLocales(lang)[0] ?? 'en-GB'
  } catch {
    return 'en-GB'
  }
}
