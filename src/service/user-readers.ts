import type { HostSessionData } from '../door/host-types.ts'
import { SessmgrError } from '../ground/errors.ts'
import { type Logger, warn } from '../ground/logger.ts'
import { typeInWords } from '../ground/option-checks.ts'
import { isUserId, type UserId } from '../ground/user-id.ts'

/** Functions that read the id of a user. */
export interface UserReaders {
  /** Reads the id of a user who logs in. @throws SessmgrError `user_id_missing` */
  readonly userIdOf: (user: unknown) => UserId
  /** Reads the id of a session's user. */
  readonly sessionUser: (data: HostSessionData) => UserId | undefined
}

/** Creates the readers from the `userId` and `sessionUser` options. */
export function createUserReaders(
  userId: ((user: unknown) => UserId) | undefined,
  sessionUser: ((data: HostSessionData) => unknown) | undefined,
  logger: Logger,
): UserReaders {
  const read = userId ?? usualId
  return {
    userIdOf(user) {
      if (user === undefined || user === null) throw noUser()
      const id: unknown = read(user)
      if (isUserId(id)) return id
      throw new SessmgrError('user_id_missing', noUsableId(id, user))
    },
    sessionUser: sessionUser
      ? (data) => namedUser(readUser(sessionUser, data), logger)
      : passportUser(userId, userId === undefined ? warnOfKinds(logger) : undefined),
  }
}

/** Fields that usually contain the id of a user, in the order in which they are read. */
const ID_FIELDS = ['id', 'userId', '_id']

/** Returns the name of the field with the id of a user. */
function idFieldOf(user: object): string | undefined {
  return ID_FIELDS.find((field) => (user as Record<string, unknown>)[field] != null)
}

/** Reads the id of a user without the `userId` option. A string or a number is the id itself. */
function usualId(user: unknown): unknown {
  if (isUserId(user)) return user
  const field = idFieldOf(Object(user))
  const id = field && (user as Record<string, unknown>)[field]
  // MongoDB's ids are objects, which become hexadecimal strings in the session.
  const { toHexString } = Object(id) as { toHexString?: unknown }
  return typeof toHexString === 'function' ? toHexString.call(id) : id
}

function noUser(): SessmgrError {
  return new SessmgrError(
    'user_id_missing',
    'The user is missing. Pass it after the request: limiter.login(request, user).',
  )
}

function readUser(sessionUser: (data: HostSessionData) => unknown, data: HostSessionData): unknown {
  try {
    return sessionUser(data)
  } catch (cause) {
    throw new SessmgrError(
      'invalid_option',
      '"sessionUser" failed. It receives the session\'s data, not the request, and is also called without a signed-in user: ' +
        '(session) => session.user?.id.',
      { cause },
    )
  }
}

/** Fields that may identify a user, in the order in which they are suggested. */
const OTHER_FIELDS = ['uid', 'uuid', 'sub', 'user_id', 'accountId', 'email', 'username', 'login']

function isPromise(value: unknown): boolean {
  return typeInWords(value) === 'a promise'
}

function noUsableId(found: unknown, user: unknown): string {
  if (isPromise(user)) return 'The user is a promise. Write await before the call that returns it.'
  if (isPromise(found)) return 'The user\'s id is a promise. Remove async from "userId", and return the id itself.'
  const field = OTHER_FIELDS.find((name) => isUserId(Object(user)[name])) ?? 'uid'
  return (
    'The user has no valid id. It must be a non-empty string or an integer, but ' +
    `${found === undefined ? 'there is none' : `it is ${typeInWords(found)}`}. ` +
    `Set userId: sessmgr({ userId: (user) => user.${field} }).`
  )
}

/**
 * Returns a function that reads the id of the user that Passport serialized.
 *
 * @param userId Reads the id of a serialized user that is an object.
 * @param note Called with each serialized user that is an object.
 */
function passportUser(
  userId: ((user: unknown) => UserId) | undefined,
  note?: (user: object) => void,
): UserReaders['sessionUser'] {
  return ({ passport }) => {
    // @fastify/passport stores the serialized user itself. Passport and koa-passport store an object with `user`.
    const user = typeof passport === 'object' && passport !== null && 'user' in passport ? passport.user : passport
    const isObject = typeof user === 'object' && user !== null
    if (isObject) note?.(user)
    const ids = isObject ? [userId && attempt(userId, user), usualId(user)] : [user]
    return ids.find(isUserId)
  }
}

/** Calls the `userId` option, which may throw: Passport may serialize fewer fields than the option needs. */
function attempt(userId: (user: unknown) => UserId, user: unknown): unknown {
  try {
    return userId(user)
  } catch {
    return undefined
  }
}

/** Matches keys that distinguish kinds of users, such as customers and administrators, whose ids may be the same. */
const KIND = /^(user|account|auth)?_?(type|role|kind|provider|realm|strategy|tenant|model)(_?id)?$/i

/** Returns a check that warns once if sessions identify users by more than `id`. */
function warnOfKinds(logger: Logger): (user: object) => void {
  return (user) => {
    const names = Object.keys(user)
    const field = idFieldOf(user)
    const kind = names.find((name) => KIND.test(name))
    if (field === undefined || kind === undefined) return
    warn(
      logger,
      'users-with-the-same-id',
      `Passport serializes { ${names.join(', ')} }, but sessmgr only reads "${field}", so two users with the same id would ` +
        `share one limit. If ids are unique, set sessmgr({ userId: (user) => user.${field} }). If not, combine both: ` +
        `sessmgr({ userId: (user) => user.${kind} + ':' + user.${field} }).`,
    )
  }
}

/** Checks what `sessionUser` returned, because applications often return the whole user by mistake. */
function namedUser(id: unknown, logger: Logger): UserId | undefined {
  if (isUserId(id)) return id
  const isNobody = id === undefined || id === null || id === false || id === ''
  if (!isNobody) {
    const found = typeof id === 'number' ? 'a number that is not an integer' : typeInWords(id)
    const advice = isPromise(id) ? 'Remove async, because sessmgr does not wait for it' : 'Return only the id'
    warn(
      logger,
      'session-names-another-user',
      `"sessionUser" must return the user's id, a string or an integer, but returned ${found}. Without Passport, nothing is limited. ` +
        `${advice}: sessmgr({ sessionUser: (session) => session.user?.id }).`,
    )
  }
  return undefined
}
