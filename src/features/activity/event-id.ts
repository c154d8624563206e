import { nodeCrypto } from '../../ground/node-crypto.ts'

let latest = 0
let count = 0

/** Returns a UUID of version 7 for a time. Events of the same millisecond keep their order within the process. */
export function eventId(at: number): string {
  const time = Math.max(0, Math.trunc(at))
  count = time === latest ? (count + 1) & 0xfff : 0
  latest = time
  const digits = time.toString(16).padStart(12, '0').slice(-12)
  const order = count.toString(16).padStart(3, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${order}${nodeCrypto().randomUUID().slice(18)}`
}
