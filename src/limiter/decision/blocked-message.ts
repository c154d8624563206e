import { neededSlots } from '../../strategies/slots.ts'
import { type ReaderTexts, readerTexts } from '../../texts/texts-for.ts'
import type { DecidedLimit } from './evaluate-login.ts'

/** Words the refusal of a login, with the time at which an unused session gives up its slot, if any will. */
export async function blockedMessage({ say }: ReaderTexts = readerTexts({}), reached?: RefusingLimit): Promise<string> {
  const { maximum = 0 } = reached?.context ?? {}
  const ofKind = maximum === 1 ? 'login_blocked_kind_one' : 'login_blocked_kind_other'
  const plain = reached?.label === undefined ? say('login_blocked') : say(ofKind, { maximum })
  const at = reached && releaseTime(reached)
  if (!reached || at === undefined) return plain
  const late = await import('./release-message.ts').catch(() => undefined)
  return late?.releaseMessage(say, reached, at) ?? plain
}

/** A limit that refuses a login, and the mode that decided. */
type RefusingLimit = Pick<DecidedLimit, 'mode' | 'context' | 'label'>

/**
 * Returns when enough sessions will be over or unused for long enough to admit a refused login. Undefined if none give
 * up their slots.
 */
export function releaseTime({ mode, context }: RefusingLimit): number | undefined {
  const { sessions, idleAfterMs } = context
  // Other modes may not end unused sessions.
  if (!['block', 'ask'].includes(mode) || !Number.isFinite(idleAfterMs)) return undefined
  const free = sessions.map(({ lastSeenAt, expiresAt }) => Math.min(lastSeenAt + idleAfterMs, expiresAt))
  return free.toSorted((a, b) => a - b)[neededSlots(context) - 1]
}
