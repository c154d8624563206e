import { nameOfKey, nameOfValue } from '../options/option-words.ts'
import type { Query } from '../rest/queries.ts'
import { RestFailure } from '../rest/rest-client.ts'
import { serverNow } from '../rest/server-clock.ts'
import { useQuery } from '../rest/use-rest.ts'
import { startOfDay } from '../sessions/time-words.ts'
import { nameOf, type Person } from '../sessions/use-sessions.ts'
import { countKey, type TextKey, type Translate } from '../texts/use-texts.ts'

/** Number of events per page. */
export const PAGE_SIZE = 50

/** A user in an event. A deleted user has only the id. */
export type EventUser = Pick<Person, 'id'> & Partial<Person>

/** An event of the activity log. `at` is in milliseconds since the Unix epoch. */
export interface ActivityEvent {
  readonly id: string
  readonly at: number
  readonly type: string
  readonly user?: EventUser
  readonly session?: string
  readonly initiator: 'user' | 'admin' | 'policy' | 'system'
  readonly actor?: EventUser
  readonly kind?: string
  readonly device?: string
  readonly ip?: string
  readonly place?: string
  readonly details?: Readonly<Record<string, unknown>>
}

interface ActivityPage {
  readonly events: readonly ActivityEvent[]
  readonly next?: string
  /** The earliest time from which events are known, in milliseconds. */
  readonly since: number
  /** `process` if only the latest events of one process are kept. */
  readonly kept: 'process' | 'sink'
}

/** The periods to choose from, and how many days ago they begin and end. */
export const PERIODS = {
  today: ['v_today', 0],
  yesterday: ['v_yesterday', 1, 0],
  '7d': ['v_days_7', 6],
  '30d': ['v_days_30', 29],
} as const satisfies Readonly<Record<string, readonly [text: TextKey, from: number, to?: number]>>

/** Which events to show. Empty strings select all. */
export interface ActivityView {
  readonly type: string
  readonly user: string
  readonly ip: string
  readonly period: keyof typeof PERIODS | ''
  /** Instead of a period, the times at which it begins and ends, in milliseconds. */
  readonly from: string
  readonly to: string
}

/** Returns which events to show, according to the URL's query. */
export function viewIn(query: URLSearchParams): ActivityView {
  const [type = '', user = '', ip = '', period = ''] = VIEW_KEYS.map((name) => query.get(name) ?? '')
  const [from = '', to = ''] = ['from', 'to'].map((name) => /^\d{1,15}$/.exec(query.get(name) ?? '')?.[0])
  return { type, user, ip, period: Object.hasOwn(PERIODS, period) ? (period as keyof typeof PERIODS) : '', from, to }
}

const VIEW_KEYS = ['type', 'user', 'ip', 'period'] as const

/** Returns the times at which the period of a view begins and ends, in milliseconds. Undefined means open. */
export function timesOf({ period, from: start, to: end }: ActivityView): readonly [from?: number, to?: number] {
  if (period === '') return [start, end].map((time) => (time ? Number(time) : undefined)) as [number?, number?]
  const [, from, to] = PERIODS[period] as readonly [TextKey, number, number?]
  return to === undefined ? [daysAgo(from)] : [daysAgo(from), daysAgo(to)]
}

function daysAgo(days: number): number {
  const today = new Date(startOfDay(serverNow()))
  return today.setDate(today.getDate() - days)
}

/** Returns the query string that requests a view from a route. */
export function queryOf(view: ActivityView, more: Readonly<Record<string, string>> = {}): string {
  const [from = '', to = ''] = timesOf(view).map((time) => time && String(time))
  const entries = Object.entries({ ...view, period: '', from, to, ...more }).filter(([, value]) => value)
  return new URLSearchParams(entries as [string, string][]).toString()
}

/** Returns the options of the query that reads events page by page. */
export function activityQuery(view: ActivityView): Query<ActivityPage> {
  return {
    key: ['activity', view],
    path: (cursor) => `sessmgr/v1/audit?${queryOf(view, { limit: String(PAGE_SIZE), ...(cursor && { cursor }) })}`,
    next: ({ next }) => next,
  }
}

/** An event, with the sessions that it ended. */
export interface ToldEvent extends ActivityEvent {
  readonly ended?: readonly ActivityEvent[]
}

/** Puts the ends of the sessions that a login has displaced into the event of this login. */
export function foldEnds(events: readonly ActivityEvent[]): readonly ToldEvent[] {
  const ends = new Map<unknown, ActivityEvent>()
  for (const event of events) if (event.type === 'session.ended') ends.set(event.session, event)
  const told = new Set<ActivityEvent>()
  const folded = events.map((event) => {
    const { displaced } = event.details ?? {}
    const ended = Array.isArray(displaced) ? displaced.flatMap((token) => ends.get(token) ?? []) : []
    for (const end of ended) told.add(end)
    return ended.length > 0 ? { ...event, ended } : event
  })
  return folded.filter((event) => !told.has(event))
}

/** Checks whether no user has this name. */
export function useIsNobody(name: string): boolean {
  const query: Query<object> = {
    key: ['activity-user', name],
    path: () => `sessmgr/v1/sessions?${new URLSearchParams({ user: name, limit: '1' })}`,
    failsAtOnce: true,
  }
  const { error } = useQuery(query, { isNeeded: name !== '' })
  return error instanceof RestFailure && error.code === 'user_not_found'
}

/** The event types to filter by. The first entry selects all. */
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

/** Texts on why a session ended. The second applies if the device of the login that ended it is known. */
const ENDED: Readonly<Record<string, readonly [TextKey, TextKey?]>> = {
  displaced: ['v_displaced', 'v_displaced_on'],
  never_used: ['v_never_used'],
  idle: ['v_idle', 'v_idle_on'],
  chosen: ['v_chosen', 'v_chosen_on'],
  user: ['v_by_user'],
  signed_out: ['v_signed_out'],
  replaced: ['v_replaced'],
  admin: ['v_by_admin'],
  app: ['v_by_app'],
  reused: ['v_reused'],
  stolen: ['v_stolen'],
  max_age: ['v_max_age'],
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

/** Describes what happened. An unknown type is shown as is. */
export function whatHappened(t: Translate, event: ToldEvent): string {
  const { note } = event.details ?? {}
  const what = withoutNote(t, event)
  return typeof note === 'string' && note !== '' ? t('v_note', { what, note }) : what
}

function withoutNote(t: Translate, { type, kind = '', actor, details = {}, ended }: ToldEvent): string {
  if (type === 'session.started') {
    if (details.adopted === true) return t('v_adopted')
    if (ended) return t('v_started')
    const displaced = Array.isArray(details.displaced) ? details.displaced.length : 0
    return displaced > 0 ? t(countKey('v_started_displaced', displaced), { count: displaced }) : t('v_started')
  }
  if (type === 'session.ended') {
    // The row names the administrator separately.
    if (kind === 'admin' && actor) return t('v_ended')
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
  // Options that are not exposed may be secret, so their events contain no values.
  if (!('from' in details || 'to' in details)) return t('v_changed_secret', { name })
  const word = (value: unknown) => nameOfValue(t, option, key, value)
  return t('v_changed', { name, from: word(details.from), to: word(details.to) })
}

const TONES: Readonly<Record<string, string>> = {
  'session.started': 'in',
  'session.ended': 'out',
  'login.refused': 'refused',
  'login.asked': 'refused',
}

/** Returns the CSS class of an event's dot. */
export function toneOf({ type }: ActivityEvent): string {
  return TONES[type] ?? 'other'
}

/** Names who caused an event. Returns undefined if it was the user or the limit, because the event itself says so. */
export function whoDidIt(t: Translate, { initiator, actor, user, kind }: ActivityEvent): string | undefined {
  if (actor) return actor.id === user?.id ? undefined : nameOf(actor)
  if (initiator === 'user' || initiator === 'policy' || kind !== undefined) return undefined
  return t(`v_initiator_${initiator}`)
}
