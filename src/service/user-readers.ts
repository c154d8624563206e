import { SessmgrError } from '../ground/errors.ts'
import { type Logger, warnOnce } from '../ground/logger.ts'
import { isUserId, type UserId } from '../ground/user-id.ts'
import type { HostSessionData } from '../guard/host-types.ts'

/** Functions that read the id of a user. */
export interface UserReaders {
  /** Reads the id of a user who logs in. @throws SessmgrError `user_id_missing` */
  readonly userIdOf: (user: unknown) => UserId
  /** Reads the id of a session's user. */
  readonly sessionUser: (data: HostSessionData) => UserId | undefined
}

/** Creates the readers from the options `userId` and `sessionUser`. */
export function createUserReaders(
  userId: ((user: unknown) => UserId) | undefined,
  sessionUser: ((data: HostSessionData) => unknown) | undefined,
  logger: Logger,
): UserReaders {
  return {
    userIdOf(user) {
      if (user === undefined || user === null) throw noUser()
      const id: unknown = userId ? userId(user) : (user as { id?: unknown }).id
      if (isUserId(id)) return id
      throw new SessmgrError('user_id_missing', !userId && isUserId(user) ? bareId(user) : noUsableId(id))
    },
    sessionUser: sessionUser
      ? (data) => namedUser(readUser(sessionUser, data), logger)
      : passportUser(userId === undefined ? warnOfKinds(logger) : undefined),
  }
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

function bareId(user: UserId): string {
  const [kind, given] = typeof user === 'string' ? ['string', "'alice'"] : ['number', '7']
  return `The user is a ${kind}, not an object. Pass an object with the id: { id: ${given} }, not ${given}.`
}

function noUsableId(found: unknown): string {
  return (
    'The user has no valid id. It must be a non-empty string or an integer, but ' +
    `${found === undefined ? 'there is none' : `its type is ${typeof found}`}. ` +
    'Set userId: sessmgr({ userId: (user) => user._id.toString() }).'
  )
}

/** @param note Called with each serialized user that is an object. */
function passportUser(note?: (user: object) => void): UserReaders['sessionUser'] {
  return ({ passport }) => {
    // @fastify/passport stores the serialized user itself. Passport and koa-passport store an object with `user`.
    const user = typeof passport === 'object' && passport !== null && 'user' in passport ? passport.user : passport
    const isObject = typeof user === 'object' && user !== null
    if (isObject) note?.(user)
    const id = isObject ? (user as { id?: unknown }).id : user
    return isUserId(id) ? id : undefined
  }
}

/** Returns a check that warns once if sessions identify users by more than `id`. */
function warnOfKinds(logger: Logger): (user: object) => void {
  return (user) => {
    const names = Object.keys(user)
    if (!names.includes('id') || names.length === 1) return
    warnOnce(
      logger,
      'users-with-the-same-id',
      `Passport serializes { ${names.join(', ')} }, but sessmgr only reads "id", so two users with the same id would share ` +
        'one limit. If ids are unique, set sessmgr({ userId: (user) => user.id }). If not, set both userId and ' +
        "sessionUser, for example to (user) => user.type + ':' + user.id.",
    )
  }
}

/** Checks what `sessionUser` returned, because applications often return the whole user by mistake. */
function namedUser(id: unknown, logger: Logger): UserId | undefined {
  if (isUserId(id)) return id
  const isNobody = id === undefined || id === null || id === false || id === ''
  if (!isNobody) {
    const found = typeof id === 'number' ? 'a number that is not an integer' : `a value of type ${typeof id}`
    warnOnce(
      logger,
      'sessionuser-must-return-an-id',
      `"sessionUser" must return the user's id, a string or an integer, but returned ${found}. These sessions are not ` +
        'limited. Return only the id: sessmgr({ sessionUser: (session) => session.user?.id }).',
    )
  }
  return undefined
}
