import type { KeyObject, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import { VERSION } from '../../ground/constants.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { requireOptions } from '../../ground/option-checks.ts'
import type { AuditEvent, AuditType } from './audit-event.ts'

/** The version of the OCSF schema, and the category and class of its Authentication events. */
const SCHEMA = '1.3.0'
const [CATEGORY, CLASS] = [3, 3002]

const LOGON = { activity_id: 1, activity_name: 'Logon' }
const LOGOFF = { activity_id: 2, activity_name: 'Logoff' }
const SUCCESS = { status_id: 1, status: 'Success' }
const FAILURE = { status_id: 2, status: 'Failure' }

/** Activity and status of each event type that is about the authentication of one user. */
const TYPES: { readonly [Type in AuditType]?: typeof LOGON & typeof SUCCESS } = {
  'session.started': { ...LOGON, ...SUCCESS },
  'session.ended': { ...LOGOFF, ...SUCCESS },
  'login.refused': { ...LOGON, ...FAILURE },
  'login.asked': { ...LOGON, status_id: 99, status: 'Asked' },
}

/** An event of the Authentication class (3002) of the Open Cybersecurity Schema Framework. */
export interface OcsfEvent {
  /** Always 3, Identity & Access Management. */
  readonly category_uid: number
  /** Always 3002, Authentication. */
  readonly class_uid: number
  /** 1 for a login, 2 for the end of a session. */
  readonly activity_id: number
  /** Class and activity: 300201 or 300202. */
  readonly type_uid: number
  /** Time of the event, in milliseconds since the Unix epoch. */
  readonly time: number
  /** Always 1, informational. */
  readonly severity_id: number
  /** Other attributes, as in the schema. */
  readonly [attribute: string]: unknown
}

/**
 * Converts a login attempt or the end of a session to an OCSF event of the Authentication class.
 *
 * @param service Name of your site. @default 'sessmgr'
 * @returns The OCSF event, or undefined if the event is not about the authentication of one user.
 * @throws SessmgrError `invalid_option` if the name is not a string.
 *
 * @example
 * ```ts
 * const rows = events.flatMap((event) => toOcsf(event, 'shop.example') ?? [])
 * ```
 */
export function toOcsf(event: AuditEvent, service = 'sessmgr'): OcsfEvent | undefined {
  if (typeof service !== 'string' || service === '') throw invalidOption('The site name must be a non-empty string')
  const type = TYPES[event.type]
  if (!type || event.user === undefined) return undefined
  const { id, at, user, session, initiator, actor, kind, device, ip, details } = event
  // The address comes from a proxy's header, so it may be anything.
  const hasAddress = isIP(ip ?? '') !== 0
  const given = hasAddress || ip === undefined ? {} : { ip }
  return {
    category_uid: CATEGORY,
    category_name: 'Identity & Access Management',
    class_uid: CLASS,
    class_name: 'Authentication',
    type_uid: CLASS * 100 + type.activity_id,
    type_name: `Authentication: ${type.activity_name}`,
    ...type,
    ...(event.type === 'login.refused' && { status_detail: 'SESSION_LIMIT_REACHED' }),
    time: at,
    severity_id: 1,
    severity: 'Informational',
    metadata: {
      version: SCHEMA,
      uid: id,
      event_code: event.type,
      product: { name: 'sessmgr', vendor_name: 'sessmgr', version: VERSION },
    },
    user: { uid: String(user) },
    service: { name: service },
    is_remote: true,
    ...(session !== undefined && {
      session: { uid: session, ...(kind !== undefined && { expiration_reason: kind }) },
    }),
    ...(actor !== undefined && { actor: { user: { uid: String(actor) } } }),
    ...(hasAddress && { src_endpoint: { ip } }),
    unmapped: { initiator, ...given, ...(device !== undefined && { device }), ...(details && { details }) },
  }
}

const EVENT_TYPES = 'https://schemas.openid.net/secevent/caep/event-type'

/** The sender and the receiver of the events. */
export interface CaepOptions {
  /** Issuer of the events and of the user ids: the URL of your site. */
  readonly issuer: string
  /** Receiver of the events. @default no audience */
  readonly audience?: string | readonly string[] | undefined
  /** Language of the notes about ended sessions. @default 'en' */
  readonly language?: string | undefined
}

/** The claims of a security event token (RFC 8417). */
export interface SecurityEventClaims {
  /** The sender. */
  readonly iss: string
  /** The receiver. */
  readonly aud?: string | readonly string[]
  /** When the token was created, in Unix seconds. */
  readonly iat: number
  /** Id of the token, which is the id of the event. */
  readonly jti: string
  /** Same value as `jti`. */
  readonly txn: string
  /** The user and the session that the token is about. */
  readonly sub_id: object
  /** The event, under the URL of its type. */
  readonly events: Readonly<Record<string, object>>
}

/**
 * Converts the start or the end of a session to a CAEP event: `session-established` or `session-revoked`.
 *
 * @returns The claims to sign, for example with `signEvent()`, or undefined for other events.
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 *
 * @example
 * ```ts
 * const claims = toCaep(event, { issuer: 'https://shop.example', audience: 'https://receiver.example' })
 * ```
 */
export function toCaep(event: AuditEvent, options: CaepOptions): SecurityEventClaims | undefined {
  const { issuer, audience, language } = checked(options)
  const isEnd = event.type === 'session.ended'
  if ((!isEnd && event.type !== 'session.started') || event.session === undefined) return undefined
  const { note } = event.details ?? {}
  return {
    iss: issuer,
    ...(audience !== undefined && { aud: audience }),
    iat: Math.floor(Date.now() / 1000),
    jti: event.id,
    txn: event.id,
    sub_id: {
      format: 'complex',
      ...(event.user !== undefined && { user: { format: 'iss_sub', iss: issuer, sub: String(event.user) } }),
      session: { format: 'opaque', id: event.session },
    },
    events: {
      [`${EVENT_TYPES}/session-${isEnd ? 'revoked' : 'established'}`]: {
        event_timestamp: Math.floor(event.at / 1000),
        initiating_entity: event.initiator,
        ...(event.kind !== undefined && { reason_admin: { en: event.kind } }),
        ...(typeof note === 'string' && { reason_user: { [language]: note } }),
      },
    },
  }
}

function checked(options: CaepOptions) {
  requireOptions('toCaep', options, ['issuer', 'audience', 'language'])
  const { issuer, audience, language = 'en' } = options
  if (!isText(issuer)) throw invalidOption('"issuer" must be a non-empty string, such as the URL of your site')
  if (audience !== undefined && !(Array.isArray(audience) ? audience.every(isText) : isText(audience))) {
    throw invalidOption('"audience" must be a non-empty string or an array of them')
  }
  if (!isText(language) || !/^[a-z]+(-[a-z\d]+)*$/i.test(language)) {
    throw invalidOption('"language" must be a language tag such as "en"')
  }
  return { issuer, audience, language }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** How to sign a security event token. */
export interface SignEventOptions {
  /** The private key. */
  readonly key: webcrypto.CryptoKey | KeyObject | webcrypto.JsonWebKey | Uint8Array
  /** The algorithm, such as `ES256`. */
  readonly alg: string
  /** Id of the key, for receivers that know several keys. @default none */
  readonly kid?: string | undefined
}

/**
 * Signs claims as a security event token, in the form that receivers of CAEP events expect.
 *
 * @throws SessmgrError `invalid_option` for an unknown option.
 *
 * @example
 * ```ts
 * const token = await signEvent(claims, { key: privateKey, alg: 'ES256' })
 * ```
 */
export async function signEvent(claims: SecurityEventClaims, options: SignEventOptions): Promise<string> {
  requireOptions('signEvent', options, ['key', 'alg', 'kid'])
  const { key, alg, kid } = options
  // Loaded on demand, because few applications sign events.
  const { SignJWT } = await import('jose')
  const header = { alg, typ: 'secevent+jwt', ...(kid !== undefined && { kid }) }
  return new SignJWT({ ...claims } as Record<string, unknown>).setProtectedHeader(header).sign(key)
}
