import { htmlText } from '../../ground/answer-body.ts'
import type { EndedKind } from '../../sessions/session-end.ts'
import type { TextKey } from '../../texts/text-catalogue.ts'
import type { ReaderTexts } from '../../texts/texts-for.ts'
import type { EndedState } from '../host-types.ts'
import type { SignedOutNotice } from './signed-out-notice.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

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
  const template = say(textKey(ended))
  const isSuspicious = cause !== undefined && SUSPICIOUS.includes(cause.kind)
  const advice = isSuspicious ? say('notice_advice') : undefined
  const at = cause && new Date(cause.at).toISOString()
  const ago = agoIn(say('lang'), now - (cause?.at ?? now))
  const time = exactTime(say('lang'), cause?.at ?? now)
  const device = cause?.device ?? ''

  const plain: Parts = { ago, time, device }
  const html: Parts = {
    ago: `<time datetime="${at}" title="${htmlText(time)}">${htmlText(ago)}</time>`,
    time: `<time datetime="${at}">${htmlText(time)}</time>`,
    device: `<bdi>${htmlText(device)}</bdi>`,
  }
  const link = (text: string) => (securityUrl ? `<a href="${htmlText(securityUrl)}">${text}</a>` : text)
  const sentences = [
    `<strong>${htmlText(title)}</strong>`,
    fill(htmlText(template), html),
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

function textKey({ cause }: EndedState): TextKey {
  if (!cause) return 'notice_over'
  const { kind, device } = cause
  if (BY_DEVICE.includes(kind)) return `notice_${kind}${device === null ? '_unknown' : ''}` as TextKey
  // A newer release on another machine may have written a kind that this one does not know.
  return kind === 'admin' ? 'notice_admin' : 'notice_at'
}

function fill(template: string, parts: Parts): string {
  return template.replaceAll(/\{(ago|time|device)\}/g, (_, name: keyof Parts) => parts[name])
}

function agoIn(language: string, ms: number): string {
  const [size, unit] =
    ms >= DAY ? ([DAY, 'day'] as const) : ms >= HOUR ? ([HOUR, 'hour'] as const) : [MINUTE, 'minute' as const]
  return new Intl.RelativeTimeFormat(localeOf(language)).format(-Math.max(1, Math.floor(ms / size)), unit)
}

/** Returns a time in UTC, because a server does not know the reader's time zone. */
function exactTime(language: string, at: number): string {
  const day = { year: 'numeric', month: 'short', day: 'numeric' } as const
  const clock = {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
    timeZoneName: 'short',
  } as const
  return new Intl.DateTimeFormat(localeOf(language), { ...day, ...clock }).format(at)
}

/** Returns a valid locale, because the application may write its language in a form that Intl does not know. */
function localeOf(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'en'
  } catch {
    return 'en'
  }
}
