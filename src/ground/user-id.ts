import { SessmgrError } from './errors.ts'
import { inWords } from './option-checks.ts'

/** Identifies a user, as in your application. An integer stays an integer. */
export type UserId = string | number

/**
 * Matches half of a surrogate pair. In UTF-8, every unpaired half becomes the same character, so stores would confuse
 * such ids.
 */
const HALF_PAIR = /\p{Surrogate}/u

/** Checks whether a value is a user id: a non-empty, well-formed string or a safe integer. */
export function isUserId(value: unknown): value is UserId {
  return typeof value === 'string' ? value !== '' && !HALF_PAIR.test(value) : Number.isSafeInteger(value)
}

/**
 * Rejects anything that is not a user id. Passing the whole user object would otherwise list no sessions.
 *
 * @throws SessmgrError `user_id_missing`.
 */
export function requireUserId(userId: unknown): void {
  if (isUserId(userId)) return
  if (typeof userId === 'string' && userId !== '') {
    throw new SessmgrError(
      'user_id_missing',
      'A user id must be valid Unicode, but this one contains half of a surrogate pair.',
    )
  }
  const isMissing = userId === undefined || userId === null
  const cure = isMissing
    ? 'Check that the user is signed in and that their id is loaded.'
    : typeof Object(userId).then === 'function'
      ? 'Write await before the call that returns it.'
      : typeof userId === 'object'
        ? 'Pass user.id instead of user.'
        : 'Pass the id as your application stores it.'
  const message = `Expected a user id (a non-empty string or a safe integer), got ${inWords(userId)}. ${cure}`
  throw new SessmgrError('user_id_missing', message)
}

/** Returns a user id as a string and, if it is an integer, also as a number. Both identify the same user. */
export function bothTypes(userId: UserId): readonly UserId[] {
  const text = String(userId)
  const number = Number(text)
  return Number.isSafeInteger(number) && String(number) === text ? [text, number] : [text]
}
