import { isIP } from 'node:net'
import { VERSION } from '../../../ground/constants.ts'
import { invalidOption } from '../../../ground/invalid-option.ts'
import type { AuditEvent, AuditType } from '../audit-event.ts'

/** The version of the schema, and the class "Authentication" in it. */
const SCHEMA = '1.3.0'
const [CATEGORY, CLASS] = [3, 3002]

const LOGON = { activity_id: 1, activity_name: 'Logon' }
const LOGOFF = { activity_id: 2, activity_name: 'Logoff' }
const SUCCESS = { status_id: 1, status: 'Success' }
const FAILURE = { status_id: 2, status: 'Failure' }

/** The activity and the status of each type that is about the authentication of one user. */
const TYPES: { readonly [Type in AuditType]?: typeof LOGON & typeof SUCCESS } = {
  'session.started': { ...LOGON, ...SUCCESS },
  'session.ended': { ...LOGOFF, ...SUCCESS },
  'login.refused': { ...LOGON, ...FAILURE },
  'login.asked': { ...LOGON, status_id: 99, status: 'Asked' },
}

/** An event of the class Authentication (3002) of the Open Cybersecurity Schema Framework. */
export interface OcsfEvent {
  /** Always 3, Identity & Access Management. */
  readonly category_uid: number
  /** Always 3002, Authentication. */
  readonly class_uid: number
  /** 1 for a login, 2 for the end of a session. */
  readonly activity_id: number
  /** Class and activity: 300201 or 300202. */
  readonly type_uid: number
  /** When it happened, in milliseconds. */
  readonly time: number
  /** Always 1, informational. */
  readonly severity_id: number
  /** Other attributes, as in the schema. */
  readonly [attribute: string]: unknown
}

/**
 * Converts a login, a refusal or the end of a session to an OCSF event of the class Authentication.
 *
 * @param service Name of your site. @default 'sessmgr'
 * @returns Undefined for other events, which are not about the authentication of one user.
 * @throws SessmgrError `invalid_option` if the name is not a string.
 */
export function toOcsf(event: AuditEvent, service = 'sessmgr'): OcsfEvent | undefined {
  if (typeof service !== 'string' || service === '')
    throw invalidOption('The name of the site must be a non-empty string')
  const type = TYPES[event.type]
  if (!type || event.user === undefined) return undefined
  const { id, at, user, session, initiator, actor, kind, device, ip, details } = event
  // A proxy may have sent anything as the address.
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
