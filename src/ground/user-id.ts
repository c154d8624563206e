/** Identifies a user as the host does. The type is kept: an integer comes back as an integer. */
export type UserId = string | number

/** Half a surrogate pair, which no store can keep: in UTF-8 all such ids would be one. */
const HALF_PAIR = /\p{Surrogate}/u

/** Checks whether a value can name a user: a non-empty, well-formed string or a safe integer. */
export function isUserId(value: unknown): value is UserId {
  return typeof value === 'string' ? value !== '' && !HALF_PAIR.test(value) : Number.isSafeInteger(value)
}
