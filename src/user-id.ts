/** Identifies a user as the host does. The type is kept: an integer comes back as an integer. */
export type UserId = string | number

/** Tells whether a value can name a user: a non-empty string or a safe integer. */
export function isUserId(value: unknown): value is UserId {
  return typeof value === 'string' ? value !== '' : Number.isSafeInteger(value)
}
