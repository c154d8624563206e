import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failed } from '../../parts/feedback.tsx'
import type { Query } from '../../rest/queries.ts'
import { useQuery } from '../../rest/use-rest.ts'
import { vars } from '../../screen.ts'
import { addTexts, countKey, useTexts } from '../../texts/use-texts.ts'
import { dateAndTime, timeAgo, timeSpan } from '../time-words.ts'
import { SESSIONS } from '../use-sessions.ts'
import { EXPLAIN_TEXTS } from './explain-texts.ts'

addTexts(EXPLAIN_TEXTS)

/** Renders the dialog that explains how the limit applies to a user. */
export function ExplainLimit({ user, name, onClose }: { user: string; name: string; onClose: () => void }) {
  const t = useTexts()
  const query: Query<LimitOfUser> = {
    key: [SESSIONS, 'explain', user],
    path: () => `sessmgr/v1/explain?${new URLSearchParams({ user })}`,
  }
  const { data, error, read, isReading } = useQuery(query)
  return (
    <Dialog
      title={t('explain_title', { name })}
      text={
        <div role="status">{data ? <Explanation limit={data} name={name} /> : !error && <p>{t('loading')}</p>}</div>
      }
      onClose={onClose}
      actions={
        <Button data-first-focus onClick={onClose}>
          {t('close')}
        </Button>
      }
    >
      {error && !data && <Failed error={error} retry={read} isRetrying={isReading} />}
    </Dialog>
  )
}

/** How the limit applies to a user, as the server returns it. */
interface LimitOfUser {
  readonly maximum: number
  readonly from: 'settings' | 'filter' | 'options'
  /** Whether the user is exempt from the limit. */
  readonly bypassed: boolean
  readonly enforced: boolean
  readonly mode: string
  readonly next_login: 'admitted' | 'ends' | 'asked' | 'refused'
  /** How many sessions the user must choose to end, if asked. */
  readonly need?: number
  /** The label whose limit decides. */
  readonly label?: string
  /** How many sessions the user may have with each label. */
  readonly limits?: Readonly<Record<string, number>>
  /** How many seconds after its login a session ends; 0 for never. */
  readonly max_age: number
  /** When enough sessions will have been unused for long enough to admit the login, in Unix seconds. */
  readonly free_at?: number
  readonly sessions: readonly ExplainedSession[]
}

/** A live session. `last_seen` is in Unix seconds. */
interface ExplainedSession {
  readonly token: string
  readonly device: string | null
  readonly last_seen: number
  /** Whether the session counts toward the limit. */
  readonly counts: boolean
  /** Whether the session has been unused long enough to make room for a login. */
  readonly idle: boolean
  readonly would_end: boolean
}

/** Renders sentences on how the limit applies to a user, and on what their next login does. */
function Explanation({ limit, name }: { limit: LimitOfUser; name: string }) {
  const t = useTexts()
  const { maximum, from, bypassed, enforced, mode, need = 1, label, limits, free_at, sessions, max_age: age } = limit
  if (bypassed) return <p>{t('explain_bypassed', { name })}</p>
  const ending = sessions.filter((session) => session.would_end)
  const next = {
    admitted: () => t('explain_admitted'),
    ends: () => t(countKey('explain_ends', ending.length), { count: ending.length }),
    asked: () => t(countKey('explain_asked', need), { count: need }),
    refused: () => t('explain_refused'),
  }
  return (
    <>
      <p>
        {t(countKey('explain_may', maximum), {
          name,
          count: maximum,
          live: sessions.filter(({ counts }) => counts).length,
        })}
        {from === 'filter' && ` ${t('explain_filter')}`}
      </p>
      <p>{t('explain_mode', { mode: vars.logics[mode]?.label ?? mode })}</p>
      {!enforced && <p>{t('explain_report_only')}</p>}
      <p>
        <strong>{next[limit.next_login]()}</strong>
        {label !== undefined && ` ${t('explain_label', { label })}`}
        {limits && ` ${t('explain_limits', { limits: listOf(limits) })}`}
      </p>
      {age > 0 && <p>{t('explain_age', { time: timeSpan(age * 1000) })}</p>}
      {free_at !== undefined && <p>{t('explain_free', { time: dateAndTime(free_at * 1000) })}</p>}
      {ending.length > 0 && (
        <ul>
          {ending.map(({ token, device, last_seen, idle }) => (
            <li key={token}>
              {t(idle ? 'explain_idle' : 'explain_session', {
                device: device ?? t('device_unknown'),
                when: timeAgo(last_seen * 1000),
              })}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function listOf(limits: Readonly<Record<string, number>>): string {
  return Object.entries(limits)
    .map(([label, limit]) => `${label} ${limit}`)
    .join(', ')
}
