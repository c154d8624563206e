import { SessmgrError } from './errors.ts'
import { inWords } from './option-checks.ts'

/** Identifies a user as the host does. The type is kept: an integer comes back as an integer. */
export type UserId = string | number

/** Half a surrogate pair, which no store can keep: in UTF-8 all such ids would be one. */
const HALF_PAIR = /\p{Surrogate}/u

/** Checks whether a value can name a user: a non-empty, well-formed string or a safe integer. */
export function isUserId(value: unknown): value is UserId {
  return typeof value === 'string' ? value !== '' && !HALF_PAIR.test(value) : Number.isSafeInteger(value)
}

/**
 * Refuses what names no user. Whoever hands over the whole user would be told that he has no sessions.
 *
 * @throws SessmgrError `user_id_missing`.
 */
export function requireUserId(userId: unknown): void {
  if (isUserId(userId)) return
  const needed = 'The id of a user is needed, a text that is not empty or a safe integer'
  if (typeof userId === 'string' && userId !== '') {
    throw new SessmgrError('user_id_missing', 'The id of a user must be valid Unicode; it holds half a surrogate pair.')
  }
  const message = `${needed}; ${inWords(userId)} was given. Pass the id alone: user.id in place of user.`
  throw new SessmgrError('user_id_missing', message)
}
