import { nameOfKey, nameOfValue } from '../options/option-words.ts'
import { nameOf } from '../sessions/use-sessions.ts'
import { countKey, type TextKey, type Translate } from '../texts/use-texts.ts'
import type { ActivityEvent } from './use-activity.ts'

/** The types of events to filter by, after all of them. */
export const EVENT_TYPES: readonly (readonly [type: string, text: TextKey])[] = [
  ['', 'v_all'],
  ['session.started', 'v_type_started'],
  ['session.ended', 'v_type_ended'],
  ['login.refused', 'v_type_refused'],
  ['login.asked', 'v_type_asked'],
  ['login.would_limit', 'v_type_would_limit'],
  ['logout.all', 'v_type_logout_all'],
  ['settings.changed', 'v_type_settings'],
  ['application_password.created', 'v_type_password_created'],
  ['application_password.revoked', 'v_type_password_revoked'],
  ['user.erased', 'v_type_erased'],
]

/** Texts of why a session ended; the second one if the device of the login is known. */
const ENDED: Readonly<Record<string, readonly [TextKey, TextKey?]>> = {
  displaced: ['v_displaced', 'v_displaced_on'],
  idle: ['v_idle', 'v_idle_on'],
  chosen: ['v_chosen', 'v_chosen_on'],
  user: ['v_by_user'],
  signed_out: ['v_signed_out'],
  replaced: ['v_replaced'],
  admin: ['v_by_admin'],
  app: ['v_by_app'],
  logout_all: ['v_with_everyone'],
  lost: ['v_lost'],
}

const OTHERS: Readonly<Record<string, TextKey>> = {
  'login.refused': 'v_refused',
  'login.asked': 'v_asked',
  'login.would_limit': 'v_would_limit',
  'logout.all': 'v_logout_all',
  'application_password.created': 'v_password_created',
  'application_password.revoked': 'v_password_revoked',
  'user.erased': 'v_erased',
}

/** Describes what happened. A type that is not known yet is shown as it is. */
export function whatHappened(t: Translate, event: ActivityEvent): string {
  const { note } = event.details ?? {}
  const what = withoutNote(t, event)
  return typeof note === 'string' && note !== '' ? t('v_note', { what, note }) : what
}

function withoutNote(t: Translate, { type, kind = '', details = {} }: ActivityEvent): string {
  if (type === 'session.started') {
    if (details.adopted === true) return t('v_adopted')
    const displaced = Array.isArray(details.displaced) ? details.displaced.length : 0
    return displaced > 0 ? t(countKey('v_started_displaced', displaced), { count: displaced }) : t('v_started')
  }
  if (type === 'session.ended') {
    const [plain, onDevice] = ENDED[kind] ?? ['v_ended']
    const device = details.by_device
    return onDevice && typeof device === 'string' ? t(onDevice, { device }) : t(plain)
  }
  if (type === 'settings.changed') return whatChanged(t, details)
  const text = OTHERS[type]
  return text ? t(text, { name: String(details.name ?? '–') }) : type
}

function whatChanged(t: Translate, details: Readonly<Record<string, unknown>>): string {
  const [option, key] = [String(details.option), String(details.key ?? '')]
  const name = nameOfKey(t, option, key)
  // Options that are not exposed may be secret.
  if (!('from' in details || 'to' in details)) return t('v_changed_secret', { name })
  const word = (value: unknown) => (value === undefined ? '–' : nameOfValue(t, option, key, value))
  return t('v_changed', { name, from: word(details.from), to: word(details.to) })
}

/** Names who caused an event. */
export function whoDidIt(t: Translate, { initiator, actor }: ActivityEvent): string {
  return actor ? nameOf(actor) : t(`v_initiator_${initiator}`)
}
