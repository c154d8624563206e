import { SessmgrError } from './errors.ts'
import { inWords } from './in-words.ts'
import { isUserId } from './user-id.ts'

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
