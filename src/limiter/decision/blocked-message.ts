import { type ReaderTexts, readerTexts } from '../../texts/texts-for.ts'
import type { DecidedLimit } from './report-only.ts'

/** Words the refusal of a login, with the time at which an unused session gives up its slot, if any will. */
export async function blockedMessage(
  { say }: ReaderTexts = readerTexts({}),
  reached?: Pick<DecidedLimit, 'mode' | 'context' | 'label'>,
): Promise<string> {
  const { maximum = 0 } = reached?.context ?? {}
  const ofKind = maximum === 1 ? 'login_blocked_kind_one' : 'login_blocked_kind_other'
  const plain = reached?.label === undefined ? say('login_blocked') : say(ofKind, { maximum })
  // Other modes may not end unused sessions.
  const isReleasing = reached && ['block', 'ask'].includes(reached.mode) && Number.isFinite(reached.context.idleAfterMs)
  if (!isReleasing || reached.context.sessions.length === 0) return plain
  const late = await import('./release-message.ts').catch(() => undefined)
  return late?.releaseMessage(say, reached) ?? plain
}
