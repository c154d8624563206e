import * as z from 'zod/mini'
import { RestError } from '../middleware/rest-error.ts'

/** Shape of a user in answers. */
export const userSummarySchema = z.object({
  id: z.union([z.int(), z.string()]),
  login: z.string(),
  display_name: z.string(),
})

/** Refuses a missing or blank identifier with the code that scripts know. */
export function checkIdentifier({ user }: Readonly<Record<string, unknown>>): void {
  const missing = user === undefined || user === null || (typeof user === 'string' && user.trim() === '')
  if (missing) throw new RestError(400, 'missing_identifier', 'Name a user: an id, an e-mail address or a login name.')
}

/** Makes the answer for a user who does not exist. */
export function userNotFound(): RestError {
  return new RestError(404, 'user_not_found', 'There is no such user.')
}
