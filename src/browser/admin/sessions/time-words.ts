import { locale } from '../texts/locale.ts'

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** Describes how far a time is in the past or future. `ms` is in milliseconds since the Unix epoch. */
export function timeAgo(ms: number, now = Date.now()): string {
  const seconds = Math.round((ms - now) / 1000)
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const)
  // The list is refreshed only now and then, so seconds would suggest too much precision.
  if (unit === 'second') return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(0, unit)
  return new Intl.RelativeTimeFormat(locale).format(Math.round(seconds / size), unit)
}

/** Formats a time as a date. `ms` is in milliseconds since the Unix epoch. */
export function dateOf(ms: number): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(ms)
}

/** Returns date and time, without the year if it is the current year. */
export function dateAndTime(ms: number, now = Date.now()): string {
  const isThisYear = new Date(ms).getFullYear() === new Date(now).getFullYear()
  const format = new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    year: isThisYear ? undefined : 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  })
  return format.format(ms)
}
