import { serverNow } from '../rest/server-clock.ts'
import { locale } from '../texts/locale.ts'

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** By how many seconds the difference of two rounded times may be off. */
const ROUNDED = 1

const DAY_MS = 86_400_000
/** Times more recent than this are described relative to now. */
const RECENT_MS = 7 * DAY_MS

const MINUTE = { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' } as const
const SECOND = { ...MINUTE, year: 'numeric', second: '2-digit', timeZoneName: 'short' } as const
const DAY = { day: 'numeric', month: 'short' } as const
const WEEKDAY = { weekday: 'long', day: 'numeric', month: 'long' } as const

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns a format for dates. Creating one is slow, so each is created once, when it is first needed. */
function dates(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options)
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale, options)
  formats.set(key, format)
  return format
}

/** Returns a format for dates, which omits the year if all times are in the current one. */
function shortDates(options: Intl.DateTimeFormatOptions, now: number, ...times: readonly number[]) {
  const yearOf = (ms: number) => new Date(ms).getFullYear()
  return dates(times.every((ms) => yearOf(ms) === yearOf(now)) ? options : { ...options, year: 'numeric' })
}

const relative = once(() => new Intl.RelativeTimeFormat(locale))
const justNow = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))
const lengths = { day: lengthIn('day'), hour: lengthIn('hour'), minute: lengthIn('minute'), second: lengthIn('second') }

/**
 * Describes how long ago a time was. A future time, from a clock that is fast, counts as now. `ms` is in milliseconds
 * since the Unix epoch.
 */
export function timeAgo(ms: number, now = serverNow()): string {
  // Rounded down, because 90 minutes are not yet 2 hours.
  const { unit, count } = inUnits(Math.min(0, ms - now), Math.trunc)
  // The list is refreshed only now and then, so seconds would suggest too much precision.
  return unit === 'second' ? justNow().format(0, unit) : relative().format(count, unit)
}

/** Describes a recent time relative to now, and any other as a date. */
export function agoOrDay(ms: number, now = serverNow()): string {
  if (now - ms < RECENT_MS) return timeAgo(ms, now)
  return shortDates(DAY, now, ms).format(ms)
}

/** Describes how long it is until a time, such as "14 days". */
export function timeUntil(ms: number, now = serverNow()): string {
  const { unit, count } = inUnits(Math.max(0, ms - now), Math.round)
  return lengths[unit]().format(count)
}

/** Describes a duration in the largest unit that divides it evenly, such as "36 hours". */
export function timeSpan(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const found = UNITS.find(([, size]) => Math.abs(seconds - size * (Math.round(seconds / size) || 1)) <= ROUNDED)
  if (!found) return timeUntil(ms, 0)
  const [unit, size] = found
  return lengths[unit]().format(Math.round(seconds / size))
}

/** Formats a time as a date. `ms` is in milliseconds since the Unix epoch. */
export function dateOf(ms: number): string {
  return dates({ dateStyle: 'long' }).format(ms)
}

/** Returns the date and time, without the year if it is the current year. */
export function dateAndTime(ms: number, now = serverNow()): string {
  return shortDates(MINUTE, now, ms).format(ms)
}

/** Describes a period, such as "Nov 24, 2:00 – 3:00 PM". Either end may be open. */
export function periodInWords(from: number | undefined, to: number | undefined, now = serverNow()): string {
  const format = shortDates(MINUTE, now, from ?? now, to ?? now)
  if (from !== undefined && to !== undefined) return format.formatRange(from, to)
  return `${from === undefined ? '' : format.format(from)} – ${to === undefined ? '' : format.format(to)}`.trim()
}

/** Names a day, such as "Yesterday, 22 November". */
export function dayName(ms: number, now = serverNow()): string {
  // Rounded, because a day may be an hour longer or shorter.
  const days = Math.round((startOfDay(ms) - startOfDay(now)) / DAY_MS)
  if (Math.abs(days) > 1) return shortDates(WEEKDAY, now, ms).format(ms)
  const word = justNow().format(days, 'day')
  return `${word.charAt(0).toLocaleUpperCase(locale)}${word.slice(1)}, ${dates({ day: 'numeric', month: 'long' }).format(ms)}`
}

/** Returns the weekday and the day of the month, such as "Mon 23". */
export function weekday(ms: number): string {
  return dates({ weekday: 'short', day: 'numeric' }).format(ms)
}

/** Returns the start of a day in the reader's time zone. */
export function startOfDay(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0)
}

/** Returns the time of day, in hours and minutes. */
export function timeOfDay(ms: number): string {
  return dates({ hour: 'numeric', minute: '2-digit' }).format(ms)
}

/** Returns a day for a file name, such as "2026-11-22". By default, today. */
export function isoDay(ms = serverNow()): string {
  const day = new Date(ms)
  return new Date(ms - day.getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
}

/** Returns the date and time with seconds and the time zone. */
export function exactTime(ms: number): string {
  return dates(SECOND).format(ms)
}

function inUnits(
  ms: number,
  round: (value: number) => number,
): { unit: 'day' | 'hour' | 'minute' | 'second'; count: number } {
  const seconds = round(ms / 1000)
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const)
  return { unit, count: round(seconds / size) }
}

function lengthIn(unit: string): () => Intl.NumberFormat {
  return once(() => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }))
}

/** Returns a function that creates a formatter at its first call, because creating one is slow and no tab needs all. */
function once<T>(create: () => T): () => T {
  let created: T | undefined
  return () => {
    created ??= create()
    return created
  }
}
