import { InvalidArgumentError } from 'commander'

const DAY_MS = 24 * 60 * 60_000

/** Reads a whole number, such as the id of a product. */
export function wholeNumber(text: string): number {
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It must be a whole number, 1 or more.')
}

/** Reads a date. */
export function date(text: string): Date {
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN
  // A day that no month has would become one of the next month.
  if (Number.isNaN(time) || new Date(time).getUTCDate() !== Number(text.slice(8, 10)))
    throw new InvalidArgumentError('It must be a date such as 2027-12-31.')
  return new Date(time)
}

/** Reads when a licence expires. Wrapped, because Commander takes a bare null for no value. */
export function expiry(text: string): { at: Date | null } {
  if (text === 'never') return { at: null }
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1]
  return { at: days === undefined ? date(text) : new Date(Date.now() + Number(days) * DAY_MS) }
}

/** Adds a host to those that were given before. */
export function host(text: string, hosts: string[] = []): string[] {
  if (URL.canParse(`https://${text}`) && new URL(`https://${text}`).hostname === text.toLowerCase()) {
    return [...hosts, text.toLowerCase()]
  }
  throw new InvalidArgumentError('It must be a host such as shop.example.com.')
}
