import type { SessionRecord } from '../../sessions/session-record.ts'
import type { LimitContext, LimitDecision, LimitStrategy } from '../../strategies/limit-strategy.ts'
import type { LabelGroup } from './label-group.ts'

/** A limit that a login has reached, and what the mode decided about it. */
export interface ReachedLimit {
  /** What the mode based its decision on. Its sessions are those that count against the limit. */
  readonly context: LimitContext
  /** The label that the limit is for. Undefined for the limit of all sessions. */
  readonly label?: string
  readonly decision: LimitDecision
}

/**
 * Lets a mode decide by the limit of the login's label first, and then by the limit for all sessions. Sessions that
 * already end for the label no longer count. Resolves to undefined if neither limit is reached.
 *
 * @param context All live sessions of the user, and how many they may have.
 * @param group Sessions with the label of the login, if the label has a limit.
 * @param isReached Checks whether this many sessions reach the limit for all sessions.
 */
export async function decideByLimits(
  mode: LimitStrategy,
  context: LimitContext,
  group: LabelGroup | undefined,
  isReached: (count: number) => Promise<boolean>,
): Promise<ReachedLimit | undefined> {
  const first = group && decideInGroup(mode, context, group)
  if (first && !first.decision.admit) return first
  const rest = first ? without(context, first.decision.end) : context
  if (!(await isReached(rest.sessions.length))) return first
  const others = group ? rest.sessions.filter(({ token }) => !group.tokens.includes(token)) : []
  const all = { ...rest, others }
  const decision = mode.decide(all)
  return { context: all, decision: first && decision.admit ? joined(first.decision, decision) : decision }
}

function decideInGroup(mode: LimitStrategy, all: LimitContext, group: LabelGroup): ReachedLimit | undefined {
  const { label, maximum, tokens } = group
  const isOther = ({ token }: SessionRecord) => !tokens.includes(token)
  const context = { ...without(all, all.sessions.filter(isOther)), maximum }
  return context.sessions.length < maximum ? undefined : { context, label, decision: mode.decide(context) }
}

function without(context: LimitContext, left: readonly SessionRecord[]): LimitContext {
  const isLeft = (session: SessionRecord) => !left.includes(session)
  return { ...context, sessions: context.sessions.filter(isLeft), chosen: context.chosen.filter(isLeft) }
}

/** Joins two decisions of one mode that both admit the login. */
function joined(first: LimitDecision, second: LimitDecision): LimitDecision {
  return {
    admit: true,
    end: [...first.end, ...second.end],
    kind: first.kind ?? second.kind,
    actions: [...first.actions, ...second.actions],
  }
}
