import { invalidOption } from '../../../ground/invalid-option.ts'
import { requireOptions } from '../../../ground/option-checks.ts'
import type { AuditEvent } from '../audit-event.ts'

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
  /** When it was created, in seconds. */
  readonly iat: number
  /** Id of the token, which is the id of the event. */
  readonly jti: string
  /** Id of what has happened; the same. */
  readonly txn: string
  /** The user and the session that it is about. */
  readonly sub_id: object
  /** The event, by its type. */
  readonly events: Readonly<Record<string, object>>
}

/**
 * Converts the start or the end of a session to a CAEP event: `session-established` or `session-revoked`.
 *
 * @returns The claims to sign, for example with `signEvent()`. Undefined for other events.
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
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
