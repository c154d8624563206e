import { isIP } from 'node:net'
import { messageOf } from '../../ground/errors.ts'
import { type Logger, logFailureOnce } from '../../ground/logger.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'
import { typeInWords } from '../../ground/option-checks.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { SessionStart } from '../../hooks/session-hooks.ts'
import type { Activity } from '../../limiter/events.ts'
import { plainAddress } from '../../sessions/address.ts'
import { deviceName, exactDevice } from '../../sessions/device.ts'
import { prefixOf } from '../../sessions/ip-network.ts'
import type { SessionEnd } from '../../sessions/session-end.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { AuditEvent } from './audit-event.ts'
import type { ResolvedAudit } from './resolve-audit-options.ts'

/** An activity and when it was noted. */
export interface NotedActivity {
  readonly at: number
  readonly activity: Activity
}

type Draft = Omit<AuditEvent, 'id' | 'at'> & { readonly at?: number }

/** The initiator for each kind of session end. */
const INITIATORS: Readonly<Record<SessionEnd['kind'], AuditEvent['initiator']>> = {
  displaced: 'policy',
  never_used: 'policy',
  idle: 'policy',
  chosen: 'user',
  user: 'user',
  replaced: 'user',
  signed_out: 'user',
  admin: 'admin',
  app: 'system',
  reused: 'system',
  stolen: 'system',
  max_age: 'policy',
  logout_all: 'system',
  lost: 'system',
}

/** Maximum length of a setting's value in an event, as JSON. */
const VALUE_LENGTH = 500

/** Converts an activity to an event. */
export async function eventOf({ at: notedAt, activity }: NotedActivity, policy: EventPolicy): Promise<AuditEvent> {
  const { at = notedAt, user, actor, ip, ...draft } = await draftOf(activity)
  return {
    id: eventId(at),
    at,
    ...draft,
    ...given({ user: policy.identify(user), actor: policy.identify(actor), ip: policy.address(ip) }),
  }
}

async function draftOf(activity: Activity): Promise<Draft> {
  switch (activity[0]) {
    case 'session.started':
      return started(activity[1], activity[2])
    case 'session.ended':
      return ended(activity[1], activity[2])
    case 'login.refused': {
      const [, client, { asked, ...details }] = activity
      const type = asked ? 'login.asked' : 'login.refused'
      return { type, user: client.userId, initiator: 'policy', ...(await clientOf(client)), details }
    }
    case 'login.would_limit': {
      const [type, user, { tokens, ...report }] = activity
      return { type, user, initiator: 'policy', details: { ...report, sessions: tokens } }
    }
    case 'logout.all': {
      const [type, epoch, end] = activity
      return { type, initiator: initiatorOf(end), ...by(end), details: { epoch, ...given({ note: end.note }) } }
    }
    case 'settings.changed': {
      const [type, { by: whom, actor, option, key, from, to }] = activity
      const details = given({ option, key, from: inShort(from), to: inShort(to) })
      return { type, initiator: whom === 'admin' ? 'admin' : 'system', ...given({ actor }), details }
    }
    case 'user.erased': {
      const [type, { by: whom, actor, sessions }] = activity
      return { type, initiator: whom === 'admin' ? 'admin' : 'system', ...given({ actor }), details: { sessions } }
    }
    default: {
      const [type, { userId, id, name, by: whom, actor }] = activity
      const details = given({ password_id: id, name: inShort(name) })
      return { type, user: userId, initiator: whom === 'admin' ? 'admin' : 'system', ...given({ actor }), details }
    }
  }
}

async function started(session: SessionRecord, how: SessionStart): Promise<Draft> {
  const details = given({
    replaced: how.replaced ?? undefined,
    displaced: how.displaced.length > 0 ? how.displaced : undefined,
    adopted: how.adopted || undefined,
    label: session.label ?? undefined,
    counts: session.counts ? undefined : false,
  })
  const hasDetails = Object.keys(details).length > 0
  return {
    type: 'session.started',
    at: session.createdAt,
    ...sessionOf(session),
    initiator: how.adopted ? 'system' : 'user',
    ...given({ actor: session.actor ?? undefined }),
    ...(await clientOf(session)),
    ...(hasDetails && { details }),
  }
}

async function ended(session: SessionRecord, end: SessionEnd): Promise<Draft> {
  // Its age ended it before anybody noticed, but a log is in the order in which things were noticed.
  const at = end.kind === 'max_age' ? {} : { at: end.at }
  const details = given({
    by_session: end.by?.token,
    by_device: end.by?.device ?? undefined,
    note: end.note,
    after: end.after === undefined ? undefined : Math.round(end.after / 1000),
  })
  const hasDetails = Object.keys(details).length > 0
  return {
    type: 'session.ended',
    ...at,
    ...sessionOf(session),
    initiator: initiatorOf(end),
    ...by(end),
    kind: end.kind,
    ...(await clientOf(session)),
    ...(hasDetails && { details }),
  }
}

const sessionOf = ({ userId, token }: SessionRecord) => ({ user: userId, session: token })

/** Returns the user who ended a session or logged everyone out, if known. */
const by = ({ by }: SessionEnd) => given({ actor: by?.actor })

/** Returns the initiator of an end. A site-wide logout with a known actor, and the ends it causes, are by an admin. */
const initiatorOf = ({ kind, by }: SessionEnd) =>
  kind === 'logout_all' && by?.actor !== undefined ? 'admin' : INITIATORS[kind]

async function clientOf({ ip, userAgent }: { readonly ip: string | null; readonly userAgent: string | null }) {
  const name = await nameOf(userAgent).catch(() => null)
  return given({ device: name ?? undefined, ip: ip ?? undefined })
}

/** Returns a device's name without the browser's version. Programs get the name that the sessions list shows. */
async function nameOf(userAgent: string | null): Promise<string | null> {
  const { name, kind } = await deviceName(userAgent)
  return name !== null && kind !== 'program' ? name : (await exactDevice(userAgent, '{browser} on {system}')).name
}

function inShort(value: unknown): unknown {
  return (JSON.stringify(value)?.length ?? 0) > VALUE_LENGTH ? '…' : value
}

/** Leaves out undefined fields. */
function given<T extends Readonly<Record<string, unknown>>>(fields: T) {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

let latest = 0
let count = 0

/** Returns a UUIDv7 for a time. Consecutive ids for the same millisecond increase. */
export function eventId(at: number): string {
  const time = Math.max(0, Math.trunc(at))
  count = time === latest ? (count + 1) & 0xfff : 0
  latest = time
  const digits = time.toString(16).padStart(12, '0').slice(-12)
  const order = count.toString(16).padStart(3, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${order}${nodeCrypto().randomUUID().slice(18)}`
}

const NO_NAME = 'Events are recorded without their users, because audit.identify() failed.'

/** Decides what events contain about a person. */
export interface EventPolicy {
  /** Returns the form in which a user is recorded. */
  identify(user: UserId | undefined): UserId | undefined
  /** Returns the form in which an address is recorded, or undefined if it is not recorded. */
  address(ip: string | undefined): string | undefined
  /** Whether users are recorded by their ids. */
  readonly hasIds: boolean
}

/** Creates the policy of the `audit` option. */
export function eventPolicy({ ip, identify }: Pick<ResolvedAudit, 'ip' | 'identify'>, logger: Logger): EventPolicy {
  function nameOf(user: UserId): UserId | undefined {
    if (identify === 'id') return user
    try {
      const name: unknown = identify(user)
      if (typeof name === 'string') return name
      throw new TypeError(`it returned ${typeInWords(name)}`)
    } catch (error) {
      logFailureOnce(logger, NO_NAME, { error: messageOf(error) })
      return undefined
    }
  }

  return {
    hasIds: identify === 'id',
    identify: (user) => (user === undefined ? undefined : nameOf(user)),
    address: (address) => {
      if (address === undefined || ip === 'none') return undefined
      const plain = plainAddress(address)
      return ip === 'full' ? plain : networkOf(plain)
    },
  }
}

/** Returns the /24 of an IPv4 address or the /48 of an IPv6 address, or undefined for anything else. */
function networkOf(address: string): string | undefined {
  const [bare = ''] = address.split('%', 1)
  if (isIP(bare) === 4) return `${bare.split('.').slice(0, 3).join('.')}.0`
  return isIP(bare) === 6 ? prefixOf(bare, 3) : undefined
}
