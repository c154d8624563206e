import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import { systemClock } from '../../ground/clock.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { EndedCause, EndedKind } from '../../sessions/session-end.ts'
import type { Token } from '../../sessions/session-record.ts'
import { LATE_TEXTS } from '../../texts/english.ts'
import { readerDuration, readerTimes } from '../../texts/reader-times.ts'
import { addLateTexts, type TextKey } from '../../texts/text-catalogue.ts'
import { htmlText, type ReaderTexts } from '../../texts/texts-for.ts'
import type { EndedState } from '../host-types.ts'
import { asksForPage, changeCookies, isEncrypted, showsNotice } from '../request/cookies.ts'
import { appendCookie, cookieScopeOf, cookiesOf, type Visit, visitOf } from '../request/visit.ts'
import { NOTICE_COOKIE, type NoticeParts, type SignedOutBody, type SignedOutNotice } from './notice.ts'

addLateTexts(LATE_TEXTS)

/** The ended session of a request, whose reason its response may show. */
interface OwnNotice {
  readonly ended: EndedState
  /** Whether this browser's pages have shown the reason for long enough. */
  readonly isOver: boolean
  /** Whether a page or a script has asked for the notice. */
  given?: 'page' | 'script'
}

/** Marks a request with its ended session. A WeakMap would keep requests in memory. */
const OWN = Symbol.for('sessmgr.notice')

const ownOf = (message: IncomingMessage) => (message as { [OWN]?: OwnNotice })[OWN]

/** A session that has ended, as the framework found it. */
interface FoundEnd {
  readonly token: Token
  readonly find: () => Promise<EndedState>
  readonly isSignedIn?: (() => boolean) | undefined
}

/** Looks up how the session of a request ended, and makes the response carry its token; see `Notices.keep`. */
export async function keepNotice(
  parts: NoticeParts,
  message: IncomingMessage,
  { token, find, isSignedIn = () => visitOf(message)?.sessmgr?.session !== undefined }: FoundEnd,
  response: ServerResponse,
): Promise<EndedState> {
  const cookie = new NoticeCookie(message, parts.endedMemoryMs)
  const kept = cookie.kept?.token === token ? cookie.kept : undefined
  const isOver = kept?.isOver === true
  const ended: EndedState = isOver ? { reason: 'missing' } : await find()
  const own: OwnNotice = { ended, isOver }
  Object.assign(message, { [OWN]: own })
  if (isOver) return ended
  changeCookies(response, () => {
    if (isSignedIn()) return
    const isShown = own.given === 'script' || (own.given === 'page' && showsNotice(message, response))
    if (isShown ? kept?.shownAt === undefined : ended.cause && !kept) cookie.set(response, token, isShown)
  })
  return ended
}

/**
 * Returns the notice of a request. Every page that asks gets it again, so that other tabs can also show the reason, for
 * ten minutes after the first page, or until the next login.
 *
 * @param isScript Whether a script fetches the notice. If so, it counts as shown at once.
 */
export async function takeNotice(
  parts: NoticeParts,
  message: IncomingMessage,
  response: ServerResponse,
  isScript = false,
): Promise<SignedOutNotice | undefined> {
  const cookie = new NoticeCookie(message, parts.endedMemoryMs)
  const isGiven = !response.headersSent && (isScript || asksForPage(message))
  const change = (run: () => void) => {
    // The response to a script is complete at once, and its headers may be copied before they are sent.
    if (isScript) run()
    else changeCookies(response, run)
  }
  const say = (ended: EndedState) =>
    isGiven ? wordNotice(ended, parts.textsFor(message), parts.securityUrl, systemClock.now()) : undefined

  if (visitOf(message)?.sessmgr?.session) {
    change(() => cookie.clear(response))
    return undefined
  }
  const own = ownOf(message)
  const kept = cookie.kept?.isOver ? undefined : cookie.kept
  const isUnexplained = !own?.ended.cause && (own?.ended.reason ?? 'missing') === 'missing'
  const cause = kept && isUnexplained ? await parts.limiter.causeOf(kept.token, 'missing') : undefined
  if (kept && cause) {
    const isFirst = isGiven && kept.shownAt === undefined
    if (isFirst) change(() => (isScript || showsNotice(message, response)) && cookie.set(response, kept.token, true))
    return say({ reason: cause.kind === 'logout_all' ? 'logout_all' : 'missing', cause })
  }
  if (!own || own.isOver) return undefined
  // Once the headers are sent, the cookie can no longer change, so the next page would show the notice again.
  if (isGiven) own.given = isScript ? 'script' : 'page'
  return say(own.ended)
}

/** Returns the JSON body of a 401 response to a request whose session is over. */
export function signedOutBody(parts: NoticeParts, message: IncomingMessage, ended: EndedState): SignedOutBody {
  const { title, text, at = null } = wordNotice(ended, parts.textsFor(message), undefined, systemClock.now())
  const { kind = null, device = null, note = null } = ended.cause ?? {}
  const { status } = new SessmgrError('session_ended', title)
  const data = { status, reason: ended.reason, kind, at, device, note }
  return { code: 'session_ended', message: `${title} ${text}`, data }
}

const MINUTE_MS = 60_000

/** Causes whose sentence names a device. */
const BY_DEVICE: readonly EndedKind[] = ['displaced', 'chosen', 'idle', 'user']
/** Causes that may be someone else's doing. */
const SUSPICIOUS: readonly EndedKind[] = ['displaced', 'chosen', 'user', 'reused', 'stolen']

/** The values of a sentence's placeholders, as plain text or as HTML. */
type Parts = Readonly<Record<'ago' | 'time' | 'device' | 'after', string>>

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
  const isSuspicious = cause !== undefined && SUSPICIOUS.includes(wordedKind(cause))
  const advice = isSuspicious ? say('notice_advice') : undefined
  const when = cause && readerTimes(say, now)(cause.at)
  const { iso: at, exact: time = '' } = when ?? {}
  const past = cause && now - cause.at < MINUTE_MS ? say('notice_just_now') : (when?.ago ?? '')
  const ago = template.startsWith('{ago}') ? capitalized(past) : past
  const device = cause?.device ?? ''
  const after = readerDuration(say, cause?.after ?? 0)

  const plain: Parts = { ago, time, device, after }
  const html: Parts = {
    ago: `<time datetime="${at}" title="${htmlText(time)}">${htmlText(ago)}</time>`,
    time: `<time datetime="${at}">${htmlText(time)}</time>`,
    device: `<bdi>${htmlText(device)}</bdi>`,
    after: htmlText(after),
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

/** Returns the kind of end whose sentences tell about an end. */
function wordedKind({ kind }: EndedCause): EndedKind {
  return kind === 'never_used' ? 'displaced' : kind
}

function textKey({ cause }: EndedState): TextKey {
  if (!cause) return 'notice_over'
  const kind = wordedKind(cause)
  const { device } = cause
  if (BY_DEVICE.includes(kind)) return `notice_${kind}${device === null ? '_unknown' : ''}` as TextKey
  // A newer release on another machine may have written a kind that this one does not know.
  return isWorded(kind) ? `notice_${kind}` : 'notice_at'
}

/** The kinds whose sentence names no device. */
const WORDED = ['admin', 'reused', 'stolen', 'max_age'] as const
const isWorded = (kind: EndedKind): kind is (typeof WORDED)[number] => (WORDED as readonly EndedKind[]).includes(kind)

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function fill(template: string, parts: Parts): string {
  return template.replaceAll(/\{(ago|time|device|after)\}/g, (_, name: keyof Parts) => parts[name])
}

/** Browsers accept this name only from the host itself, so no subdomain can plant a notice. */
const HOST_NAME = `__Host-${NOTICE_COOKIE}`

/** How long pages repeat a notice after the first of them has shown it. */
const REPEATED_MS = 10 * 60_000
/** How long a browser remembers that its notice was shown. Most sessions live no longer. */
const SHOWN_MS = 30 * 24 * 60 * 60_000

/** The token of an ended session and, once its notice was shown, when that was first, in seconds. */
const VALUE = /^([\da-f]{64})(?:\.(\d{1,12}))?$/

/** The content of the cookie. */
interface KeptNotice {
  readonly token: Token
  readonly shownAt?: number | undefined
  /** Whether pages have shown the notice for long enough. */
  readonly isOver: boolean
}

function readKept(value: string | undefined): KeptNotice | undefined {
  const [, token, seconds] = VALUE.exec(value ?? '') ?? []
  if (token === undefined) return undefined
  const shownAt = seconds === undefined ? undefined : Number(seconds) * 1000
  return { token: token as Token, shownAt, isOver: shownAt !== undefined && systemClock.now() >= shownAt + REPEATED_MS }
}

/** The cookie that names a request's ended session. It has the attributes of the session cookie. */
export class NoticeCookie {
  readonly #name: string
  readonly #attributes: { path: string; domain?: string; secure: boolean; httpOnly: true; sameSite: 'lax' }
  readonly #endedMemoryMs: number
  readonly kept: KeptNotice | undefined
  /** Names of all cookies in the request that may be the notice cookie. */
  readonly #names: readonly string[]

  constructor(message: IncomingMessage, endedMemoryMs = 0) {
    const { path = '/', domain, secure } = cookieScopeOf(message)
    const isSecure = secure === undefined ? isEncrypted(message) : secure === true
    const isOfHost = isSecure && path === '/' && !domain
    this.#name = isOfHost ? HOST_NAME : NOTICE_COOKIE
    this.#attributes = { path, ...(domain && { domain }), secure: isSecure, httpOnly: true, sameSite: 'lax' }
    this.#endedMemoryMs = endedMemoryMs
    const cookies = parseCookie(message.headers.cookie ?? '')
    this.kept = readKept(cookies[this.#name])
    this.#names = [HOST_NAME, NOTICE_COOKIE].filter((name) => cookies[name] !== undefined)
  }

  /** Stores the token of an ended session in the browser, and whether its notice has now been shown. */
  set(response: ServerResponse, token: Token, isShown: boolean): void {
    const value = isShown ? `${token}.${Math.floor(systemClock.now() / 1000)}` : token
    const maxAge = Math.floor((isShown ? SHOWN_MS : this.#endedMemoryMs) / 1000)
    const cookie = stringifySetCookie({ name: this.#name, value, ...this.#attributes, maxAge })
    const others = cookiesOf(response).filter((other) => !other.startsWith(`${this.#name}=`))
    response.setHeader('Set-Cookie', [...others, cookie])
  }

  /** Removes the notice cookie from the browser, with and without the prefix, unless the response sets a new one. */
  clear(response: ServerResponse): void {
    for (const name of this.#names) {
      if (cookiesOf(response).some((cookie) => cookie.startsWith(`${name}=`))) continue
      const secure = this.#attributes.secure || name === HOST_NAME
      appendCookie(response, stringifySetCookie({ name, value: '', ...this.#attributes, secure, expires: new Date(0) }))
    }
  }
}

/** Removes the notice of a request whose user has signed in. */
export function clearNotice({ raw }: Visit, response: ServerResponse): void {
  const cookie = new NoticeCookie(raw)
  changeCookies(response, () => cookie.clear(response))
}
