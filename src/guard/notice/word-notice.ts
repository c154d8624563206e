import type { EndedKind } from '../../sessions/session-end.ts'
import { readerTimes } from '../../texts/reader-times.ts'
import type { TextKey } from '../../texts/text-catalogue.ts'
import { htmlText, type ReaderTexts } from '../../texts/texts-for.ts'
import type { EndedState } from '../host-types.ts'
import type { SignedOutNotice } from './signed-out-notice.ts'

const MINUTE_MS = 60_000

/** Causes whose sentence names a device. */
const BY_DEVICE: readonly EndedKind[] = ['displaced', 'chosen', 'idle', 'user']
/** Causes that may be someone else's doing. */
const SUSPICIOUS: readonly EndedKind[] = ['displaced', 'chosen', 'user']

/** The parts of a sentence, as plain text or as HTML. */
type Parts = Readonly<Record<'ago' | 'time' | 'device', string>>

/** Describes the end of a session in the reader's language. */
export function wordNotice(
  ended: EndedState,
  { say }: ReaderTexts,
  securityUrl: string | undefined,
  now: number,
): SignedOutNotice {
  const { reason, cause } = ended
  const title = say(titleKey(ended))
  // Without values, the placeholders stay in place.
  const template = say(textKey(ended, now))
  const isSuspicious = cause !== undefined && SUSPICIOUS.includes(cause.kind)
  const advice = isSuspicious ? say('notice_advice') : undefined
  // At least a minute, because the sentence cannot start with "now".
  const when = cause && readerTimes(say, Math.max(now, cause.at + MINUTE_MS))(cause.at)
  const { iso: at, exact: time = '' } = when ?? {}
  const ago = template.startsWith('{ago}') ? capitalized(when?.ago ?? '') : (when?.ago ?? '')
  const device = cause?.device ?? ''

  const plain: Parts = { ago, time, device }
  const html: Parts = {
    ago: `<time datetime="${at}" title="${htmlText(time)}">${htmlText(ago)}</time>`,
    time: `<time datetime="${at}">${htmlText(time)}</time>`,
    device: `<bdi>${htmlText(device)}</bdi>`,
  }
  const link = (text: string) => (securityUrl ? `<a href="${htmlText(securityUrl)}">${text}</a>` : text)
  // "Just now" has no placeholder of its own for the time.
  const marked = when && !/\{(?:ago|time)\}/.test(template)
  const sentence = fill(htmlText(template), html)
  const sentences = [
    `<strong>${htmlText(title)}</strong>`,
    marked ? `<time datetime="${at}" title="${htmlText(time)}">${sentence}</time>` : sentence,
    ...(cause?.note ? [`<bdi>${htmlText(cause.note)}</bdi>`] : []),
    ...(advice ? [link(htmlText(advice))] : []),
  ]
  return {
    reason,
    ...(cause && { cause }),
    title,
    text: [fill(template, plain), ...(cause?.note ? [cause.note] : [])].join(' '),
    ...(at && { at }),
    ...(advice && { advice }),
    ...(advice && securityUrl && { adviceUrl: securityUrl }),
    html: `<div class="sessmgr-notice note" role="status">${sentences.join(' ')}</div>`,
  }
}

function titleKey({ reason, cause }: EndedState): TextKey {
  if (reason === 'logout_all' || cause?.kind === 'logout_all') return 'notice_title_all'
  return cause ? 'notice_title' : 'notice_title_over'
}

function textKey({ cause }: EndedState, now: number): TextKey {
  if (!cause) return 'notice_over'
  const { kind, device } = cause
  const isJustNow = kind === 'displaced' && now - cause.at < MINUTE_MS
  if (isJustNow) return device === null ? 'notice_just_now_unknown' : 'notice_just_now'
  if (BY_DEVICE.includes(kind)) return `notice_${kind}${device === null ? '_unknown' : ''}` as TextKey
  // A newer release on another machine may have written a kind that this one does not know.
  return kind === 'admin' ? 'notice_admin' : 'notice_at'
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function fill(template: string, parts: Parts): string {
  return template.replaceAll(/\{(ago|time|device)\}/g, (_, name: keyof Parts) => parts[name])
}
