import { InvalidArgumentError } from 'commander'

const DAY_MS = 24 * 60 * 60_000

/** Parses a positive integer, such as a product id. */
export function wholeNumber(text: string): number {
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It must be an integer of 1 or more.')
}

/** Parses a date. */
export function date(text: string): Date {
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse turns February 30 into a day in March.
  if (Number.isNaN(time) || new Date(time).getUTCDate() !== Number(text.slice(8, 10)))
    throw new InvalidArgumentError('It must be a date such as 2027-12-31.')
  return new Date(time)
}

/** Parses an expiry date. The result is an object, because Commander ignores null. */
export function expiry(text: string): { at: Date | null } {
  if (text === 'never') return { at: null }
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1]
  return { at: days === undefined ? date(text) : new Date(Date.now() + Number(days) * DAY_MS) }
}

/** Adds a host name to the list. */
export function host(text: string, hosts: string[] = []): string[] {
  if (URL.canParse(`https://${text}`) && new URL(`https://${text}`).hostname === text.toLowerCase()) {
    return [...hosts, text.toLowerCase()]
  }
  throw new InvalidArgumentError('It must be a host name such as shop.example.com.')
}
