import { locale } from '../texts/locale.ts'

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** Says how long ago a time was, or in how long it will be. `ms`: milliseconds since the Unix epoch. */
export function timeAgo(ms: number, now = Date.now()): string {
  const seconds = Math.round((ms - now) / 1000)
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const)
  // Seconds would be read as a promise of exactness that a list refreshed now and then does not keep.
  if (unit === 'second') return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(0, unit)
  return new Intl.RelativeTimeFormat(locale).format(Math.round(seconds / size), unit)
}

/** Says on which day a time is. `ms`: milliseconds since the Unix epoch. */
export function dateOf(ms: number): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(ms)
}

/** Says when a time is: day and minute, and the year where it is not this one. */
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
