import { locale } from '../texts/locale.ts'

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** How long a time counts as recent, so that it is described relative to now. */
const RECENT_MS = 7 * 86_400_000

const NOW = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
const RELATIVE = new Intl.RelativeTimeFormat(locale)
const LONG_DATE = new Intl.DateTimeFormat(locale, { dateStyle: 'long' })
const MINUTE = { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' } as const
const SHORT = new Intl.DateTimeFormat(locale, MINUTE)
const SHORT_WITH_YEAR = new Intl.DateTimeFormat(locale, { ...MINUTE, year: 'numeric' })
const DAY = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const DAY_WITH_YEAR = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const EXACT = new Intl.DateTimeFormat(locale, {
  ...MINUTE,
  year: 'numeric',
  second: '2-digit',
  timeZoneName: 'short',
})

/** Describes how far a time is in the past or future. `ms` is in milliseconds since the Unix epoch. */
export function timeAgo(ms: number, now = Date.now()): string {
  const { unit, count } = inUnits(ms - now)
  // The list is refreshed only now and then, so seconds would suggest too much precision.
  return unit === 'second' ? NOW.format(0, unit) : RELATIVE.format(count, unit)
}

/** Describes a recent time relative to now, and any other as a date. */
export function agoOrDay(ms: number, now = Date.now()): string {
  if (now - ms < RECENT_MS) return timeAgo(ms, now)
  return (isThisYear(ms, now) ? DAY : DAY_WITH_YEAR).format(ms)
}

/** Describes how long it is until a time, such as "14 days". */
export function timeUntil(ms: number, now = Date.now()): string {
  const { unit, count } = inUnits(Math.max(0, ms - now))
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}

/** Formats a time as a date. `ms` is in milliseconds since the Unix epoch. */
export function dateOf(ms: number): string {
  return LONG_DATE.format(ms)
}

/** Returns date and time, without the year if it is the current year. */
export function dateAndTime(ms: number, now = Date.now()): string {
  return (isThisYear(ms, now) ? SHORT : SHORT_WITH_YEAR).format(ms)
}

/** Returns date and time with seconds and the time zone. */
export function exactTime(ms: number): string {
  return EXACT.format(ms)
}

function inUnits(ms: number): { unit: 'day' | 'hour' | 'minute' | 'second'; count: number } {
  const seconds = Math.round(ms / 1000)
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const)
  return { unit, count: Math.round(seconds / size) }
}

function isThisYear(ms: number, now: number): boolean {
  return new Date(ms).getFullYear() === new Date(now).getFullYear()
}
