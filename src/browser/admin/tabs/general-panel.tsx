import { minutesOf } from '../options/option-words.ts'
import { changesIn, settingsLogQuery, useOptionFields, useOptions } from '../options/use-options.ts'
import { Choice, NumberField, Toggle } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import type { Query } from '../rest/queries.ts'
import { useQuery } from '../rest/use-rest.ts'
import { mostSessions, vars } from '../screen.ts'
import { dateAndTime, timeAgo, timeSpan } from '../sessions/time-words.ts'
import { nameOf } from '../sessions/use-sessions.ts'
import { useTexts } from '../texts/use-texts.ts'
import { LimitEffect } from './limit-chart.tsx'

interface LimitSettings {
  readonly maximum: unknown
  readonly logic: string
  /** Seconds, or the invalid input as typed. */
  readonly idle_release: unknown
  /** Seconds, or the invalid input as typed. */
  readonly max_age: unknown
  readonly enforce: boolean
}

/** Renders the settings of the limit. */
export function GeneralPanel() {
  const t = useTexts()
  const option = useOptionFields<LimitSettings>('sessmgr_settings')
  if (!option) return null
  const { settings, change, field, toggle } = option
  const logics = Object.entries(vars.logics).map(([value, { label, desc }]) => ({ value, label, help: desc }))
  const labelOf = (logic: string) => vars.logics[logic]?.label ?? logic
  const isOverBound = typeof settings.maximum === 'number' && settings.maximum > mostSessions
  const waits = settings.logic === 'block' && settings.idle_release === 0
  return (
    <Panel title={t('general')} help={t('general_help')} aside={<LastChange />}>
      <NumberField
        label={t('maximum')}
        help={
          <>
            {t('maximum_help')} {isOverBound && <strong>{t('maximum_bound', { bound: mostSessions })}</strong>}
          </>
        }
        minimum={1}
        {...field('maximum')}
      />
      <LimitEffect maximum={settings.maximum} />
      <Choice label={t('logic')} help={t('logic_help')} options={logics} {...field('logic')} />
      <NumberField
        label={t('idle')}
        help={
          <>
            {t('idle_help', { block: labelOf('block'), ask: labelOf('ask') })} {waits && <IdleWaits />}
          </>
        }
        minimum={5}
        orZero
        {...field('idle_release')}
        value={minutesOf(settings.idle_release)}
        onChange={(minutes) => change({ idle_release: typeof minutes === 'number' ? minutes * 60 : minutes })}
      />
      <NumberField
        label={t('max_age')}
        help={t('max_age_help')}
        minimum={1}
        orZero
        {...field('max_age')}
        value={minutesOf(settings.max_age)}
        onChange={(minutes) => change({ max_age: typeof minutes === 'number' ? minutes * 60 : minutes })}
      />
      <Toggle label={t('enforce')} help={t('enforce_help')} {...toggle('enforce')} />
    </Panel>
  )
}

const OPTION = 'sessmgr_settings'

/** Renders who last changed the limit's settings and when, if the activity log knows. Keeps its height when empty. */
function LastChange() {
  const t = useTexts()
  const { data: options } = useOptions()
  const { data } = useQuery(settingsLogQuery(options))
  const change = changesIn(data).find(({ details }) => details?.option === OPTION)
  const { at = 0, actor } = change ?? {}
  const name = actor && nameOf(actor)
  return (
    <span className="last-change" title={change && dateAndTime(at)}>
      {change && t(name ? 'changed_by' : 'changed_ago', { name: name ?? '', ago: timeAgo(at) })}
    </span>
  )
}

interface OwnSessions {
  readonly sessions: readonly {
    readonly current: boolean
    /** Time of the last use, in milliseconds since the Unix epoch. */
    readonly last_seen_at: number
    /** Time of expiry, in milliseconds since the Unix epoch. */
    readonly expires_at: number
  }[]
}

const OWN_QUERY: Query<OwnSessions> = {
  key: ['own-sessions'],
  path: () => 'sessmgr/v1/me/sessions',
  failsAtOnce: true,
}

/** Explains that an unused session counts until it expires, and how long this takes for the user's own session. */
function IdleWaits() {
  const t = useTexts()
  const { data } = useQuery(OWN_QUERY)
  const own = Array.isArray(data?.sessions) ? data.sessions.find(({ current }) => current) : undefined
  return (
    <strong>
      {t('idle_waits')} {own && t('idle_waits_own', { time: timeSpan(own.expires_at - own.last_seen_at) })}
    </strong>
  )
}
