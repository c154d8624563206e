import { type ReaderTexts, readerTexts } from '../../texts/texts-for.ts'
import { type RefusingLimit, releaseTime } from './release-time.ts'

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
