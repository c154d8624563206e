import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { nameOfKey, nameOfValue } from '../options/option-words.ts'
import { RestFailure } from '../rest/rest-client.ts'
import { rereading, useRefreshMs } from '../rest/use-rest.ts'
import { rest } from '../screen.ts'
import { nameOf } from '../sessions/use-sessions.ts'
import { countKey, type TextKey, type Translate } from '../texts/use-texts.ts'

/** How many events a page has. */
export const PAGE_SIZE = 50

/** A user in an event. A deleted user has only the id. */
export interface EventUser {
  readonly id: string | number
  readonly login?: string
  readonly display_name?: string
}

/** Something that happened. `at` is in milliseconds. */
export interface ActivityEvent {
  readonly id: string
  readonly at: number
  readonly type: string
  readonly user?: EventUser
  readonly initiator: 'user' | 'admin' | 'policy' | 'system'
  readonly actor?: EventUser
  readonly kind?: string
  readonly device?: string
  readonly ip?: string
  readonly details?: Readonly<Record<string, unknown>>
}

interface ActivityPage {
  readonly events: readonly ActivityEvent[]
  readonly next?: string
  /** Time of the earliest event that could be known, in milliseconds. */
  readonly since: number
  /** `process` if only the last events of one process are kept. */
  readonly kept: 'process' | 'sink'
}

/** Which events to show. Empty strings select all. */
export interface ActivityView {
  readonly type: string
  readonly user: string
}

/** The shown events, and where the next page begins. */
type Shown = Pick<ActivityPage, 'events' | 'next'>

/** Returns the query of a route for a view. */
export function queryOf({ type, user }: ActivityView, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams({ ...(type && { type }), ...(user && { user }), ...more }).toString()
}

/** Reads events, and new ones at intervals while the screen is visible. New ones wait until `show` is called. */
export function useActivity(view: ActivityView) {
  const path = `sessmgr/v1/audit?${queryOf(view, { limit: String(PAGE_SIZE) })}`
  const first = useQuery({
    ...rereading<ActivityPage>(['activity', view.type, view.user], path),
    // A user who comes back to the tab looks for new events.
    gcTime: 0,
    refetchInterval: useRefreshMs(),
  })
  const [shown, setShown] = useState<Shown>()
  const more = useMutation({
    mutationFn: (cursor: string) =>
      rest.request<ActivityPage>('GET', `sessmgr/v1/audit?${queryOf(view, { limit: String(PAGE_SIZE), cursor })}`),
    onSuccess: ({ events, next }) =>
      setShown((before) => ({ events: [...(before?.events ?? []), ...events], ...(next !== undefined && { next }) })),
  })
  const current = shown ?? first.data
  if (!shown && first.data) setShown(first.data)
  const news = newEvents(current, first.data)
  return {
    first,
    more,
    events: current?.events,
    next: current?.next,
    /** New events that are not shown yet. */
    news,
    /** Whether there may be more new events than were read. */
    isGap: news.length > 0 && news.length === first.data?.events.length && current?.events.length !== 0,
    show: () => setShown(withNews(current, first.data)),
    /** Shows only the newest page. */
    restart: (page: ActivityPage) => setShown(page),
  }
}

/** Checks whether nobody has the name. */
export function useIsNobody(name: string): boolean {
  const { error } = useQuery({
    queryKey: ['activity-user', name],
    queryFn: () => rest.request('GET', `sessmgr/v1/sessions?${new URLSearchParams({ user: name, limit: '1' })}`),
    enabled: name !== '',
    retry: false,
  })
  return error instanceof RestFailure && error.code === 'user_not_found'
}

/** Returns the events that are newer than the shown ones. */
function newEvents(shown: Shown | undefined, newest: ActivityPage | undefined): readonly ActivityEvent[] {
  const known = new Set(shown?.events.map(({ id }) => id))
  return newest?.events.filter(({ id }) => !known.has(id)) ?? []
}

/** Adds new events on top. If some in between were not read, starts again with the newest page. */
function withNews(shown: Shown | undefined, newest: ActivityPage | undefined): Shown | undefined {
  if (!shown || !newest) return newest
  const news = newEvents(shown, newest)
  return news.length === newest.events.length ? newest : { ...shown, events: [...news, ...shown.events] }
}

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
  reused: ['v_reused'],
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
