import { deviceName } from '../sessions/device-name.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import type { SessionRecord, StoredSession } from '../sessions/session-record.ts'
import type { Token } from '../sessions/token.ts'
import type { AnnouncedAction } from './actions/announced-action.ts'
import type { LoginEvaluation } from './decision/evaluate-login.ts'
import { endedActions, followUpEnd } from './follow-up-end.ts'
import type { LimiterContext } from './limiter-context.ts'

/** A login that the registry has committed. */
export interface CommittedLogin {
  readonly admitted: SessionRecord
  /** Sessions that the commit ended. */
  readonly ended: readonly StoredSession[]
  /** Old registrations of the new session, for frameworks that keep the session id. */
  readonly renewed: readonly StoredSession[]
  /** Tokens of this browser's own sessions, which the new session replaces. */
  readonly replaced: readonly Token[]
}

/** Follows up on the sessions that a login has ended, and fires the actions of the login. */
export async function followUpLogin(
  context: LimiterContext,
  { decision, lost, chosen }: LoginEvaluation,
  { admitted, ended, renewed, replaced }: CommittedLogin,
): Promise<void> {
  const kindOf = ({ token }: SessionRecord) => {
    if (replaced.includes(token)) return 'replaced'
    if (lost.includes(token)) return 'lost'
    return chosen.includes(token) ? 'chosen' : (decision.kind ?? 'displaced')
  }
  const tokensOf = (sessions: readonly StoredSession[], isReplaced: boolean) =>
    sessions.map(({ record }) => record.token).filter((token) => replaced.includes(token) === isReplaced)
  const how = {
    replaced: tokensOf([...renewed, ...ended], true)[0] ?? null,
    displaced: tokensOf(ended, false).filter((token) => !lost.includes(token)),
    adopted: false,
  }
  const { announce, log } = context
  async function start(actions: readonly AnnouncedAction[]): Promise<void> {
    announce(actions)
    log?.note('session.started', admitted, how)
    // If the login cannot be recorded, it never started.
    if (log?.recorded) await log.recorded(admitted)
    announce([['sessmgr_session_started', admitted, how]])
  }
  if (ended.length === 0 && renewed.length === 0) return start(decision.actions)
  const { token, createdAt, ip, userAgent } = admitted
  const by = { token, device: await nameOf(userAgent), ip }
  const endOf = (session: SessionRecord): SessionEnd => ({ kind: kindOf(session), at: createdAt, by })
  await followUpEnd(context, ended, endOf, () => [...decision.actions, ...endedActions(renewed, endOf)])
  await start([])
}

/** Without a name, the signed-out user reads about a login on another device. */
async function nameOf(userAgent: string | null): Promise<string | null> {
  const { name } = await deviceName(userAgent).catch(() => ({ name: null }))
  return name
}
