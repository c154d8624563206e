import { SessmgrError } from '../ground/errors.ts'
import { type Logger, warnOnce } from '../ground/logger.ts'
import { isUserId, type UserId } from '../ground/user-id.ts'
import type { HostSessionData } from '../guard/host-types.ts'

/** How the id of a user is read. */
export interface UserReaders {
  /** Reads the id of the user that logs in. @throws SessmgrError `user_id_missing` */
  readonly userIdOf: (user: unknown) => UserId
  /** Reads the id of the user of a session. */
  readonly sessionUser: (data: HostSessionData) => UserId | undefined
}

/** Creates the readers from what the application says of its users and sessions. */
export function createUserReaders(
  userId: ((user: unknown) => UserId) | undefined,
  sessionUser: ((data: HostSessionData) => unknown) | undefined,
  logger: Logger,
): UserReaders {
  return {
    userIdOf(user) {
      const id: unknown = userId ? userId(user) : (user as { id?: unknown } | null | undefined)?.id
      if (isUserId(id)) return id
      throw new SessmgrError('user_id_missing', !userId && isUserId(user) ? bareId(user) : noUsableId(id))
    },
    sessionUser: sessionUser
      ? (data) => namedUser(sessionUser(data), logger)
      : passportUser(userId === undefined ? warnOfKinds(logger) : undefined),
  }
}

function bareId(user: UserId): string {
  const [kind, given] = typeof user === 'string' ? ['string', "'alice'"] : ['number', '7']
  return `The user that logs in is a ${kind}, not an object. Pass the id in one: { id: ${given} }, not ${given}.`
}

function noUsableId(found: unknown): string {
  return (
    'The user that logs in has no usable id: a non-empty string or a whole number is needed, ' +
    `${found === undefined ? 'none' : `a value of type ${typeof found}`} was found. ` +
    'Tell sessmgr where it is: sessmgr({ userId: (user) => user._id.toString() }).'
  )
}

/** @param note Looks at a serialised user that is an object. */
function passportUser(note?: (user: object) => void): UserReaders['sessionUser'] {
  return ({ passport }) => {
    // @fastify/passport keeps what it has serialised right there, the others in an object with `user`.
    const user = typeof passport === 'object' && passport !== null && 'user' in passport ? passport.user : passport
    const isObject = typeof user === 'object' && user !== null
    if (isObject) note?.(user)
    const id = isObject ? (user as { id?: unknown }).id : user
    return isUserId(id) ? id : undefined
  }
}

/** Creates what says once that sessions tell users apart by more than the id that sessmgr counts by. */
function warnOfKinds(logger: Logger): (user: object) => void {
  return (user) => {
    const names = Object.keys(user)
    if (!names.includes('id') || names.length === 1) return
    warnOnce(
      logger,
      `Passport serialises { ${names.join(', ')} }, and sessmgr tells users apart by "id" alone: two kinds of users that ` +
        'can have the same id would be one. If every id is unique, say sessmgr({ userId: (user) => user.id }); if not, ' +
        "give both userId and sessionUser, such as (user) => user.type + ':' + user.id.",
    )
  }
}

/** Takes what the application says of a session. The name of the option makes some hand over the whole user. */
function namedUser(id: unknown, logger: Logger): UserId | undefined {
  if (isUserId(id)) return id
  const isNobody = id === undefined || id === null || id === false || id === ''
  if (!isNobody) {
    const found = typeof id === 'number' ? 'a number that is no whole number' : `a value of type ${typeof id}`
    warnOnce(
      logger,
      `"sessionUser" must return the id of the user, a string or a whole number; it returned ${found}, so these sessions ` +
        'are not limited. Return the id alone: sessmgr({ sessionUser: (session) => session.user?.id }).',
    )
  }
  return undefined
}
