import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { parseCookie, stringifySetCookie } from 'cookie'
import { createSignedValues } from '../../auth/signed-value.ts'
import { systemClock } from '../../ground/clock.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { EndedKind } from '../../sessions/session-end.ts'
import { LATE_TEXTS } from '../../texts/english.ts'
import { readerTimes } from '../../texts/reader-times.ts'
import { addLateTexts, type TextKey } from '../../texts/text-catalogue.ts'
import { htmlText, type ReaderTexts } from '../../texts/texts-for.ts'
import type { EndedState, HostRequest } from '../host-types.ts'
import { asksForPage, changeCookies, cookiesOf, givenTo, isShown, noteGiven } from '../request/cookies.ts'
import { cookieScopeOf, type Visit, viewOf, visitOf } from '../request/visit.ts'
import { type KeepNotice, NOTICE_COOKIE, type NoticeParts, type SignedOutBody, type SignedOutNotice } from './notice.ts'

addLateTexts(LATE_TEXTS)

const PURPOSE = 'notice'

/**
 * The content of the cookie. `shown` is set once a page or a script has shown the notice. The cookie then lasts ten
 * more minutes.
 */
type KeptNotice = EndedState & { readonly shown?: boolean }
/** Maximum size of the content, which keeps the signed and encoded cookie below 1 KiB. */
const MOST_BYTES = 640

/**
 * Signs the notice of a request, and returns a function that sets its cookie unless the response already shows the
 * notice.
 *
 * @param losesCookie Checks, just before the headers are sent, whether the response removes the session cookie. If so,
 * the notice cookie is set automatically.
 */
export async function keepNotice(
  parts: NoticeParts,
  message: IncomingMessage,
  ended: EndedState,
  response: ServerResponse,
  losesCookie?: () => boolean,
): Promise<KeepNotice> {
  const cookie = new NoticeCookie(message)
  const value = await signedValues(parts).sign(PURPOSE, cutToSize(ended), NOTICE_MS)
  const keep = () => {
    const given = givenTo(message)
    const isUsedUp = given === 'script' || (given === 'page' && isShown(message, response))
    if (!isUsedUp) cookie.set(response, value)
  }
  if (losesCookie) changeCookies(response, () => losesCookie() && keep())
  return keep
}

/**
 * Returns the notice of a request. For ten minutes or until the next login, every page that asks gets it again, so that
 * other tabs can also show the reason.
 *
 * @param isScript Whether a script fetches the notice. If so, it counts as shown at once.
 */
export async function takeNotice(
  parts: NoticeParts,
  message: IncomingMessage,
  response: ServerResponse,
  isScript = false,
): Promise<SignedOutNotice | undefined> {
  const { ended: own, session: live } = visitOf(message)?.sessmgr ?? {}
  const cookie = new NoticeCookie(message)
  const kept = await readKept(parts, cookie)
  const isOver = kept === undefined || live !== undefined
  const isCertain = own && (own.cause || own.reason !== 'missing')
  const ended = isOver || isCertain ? own : (kept ?? own)
  const isKeptOne = ended !== undefined && ended === kept
  // Once the headers are sent, the cookie can no longer change, so the next page would show the notice again.
  const isGiven = ended !== undefined && !response.headersSent && (isScript || asksForPage(message))
  if (isGiven) noteGiven(message, isScript ? 'script' : 'page')
  const shown = isGiven && !(isKeptOne && kept?.shown) ? await signShown(parts, ended) : undefined
  const change = () => {
    if (shown !== undefined && (isScript || isShown(message, response))) cookie.set(response, shown)
    else if (isOver) cookie.clear(response)
  }
  // The response to a script is complete at once, and its headers may be copied before they are sent.
  if (isScript) change()
  else changeCookies(response, change)
  return isGiven ? wordNotice(ended, parts.textsFor(viewOf(message)), parts.securityUrl, systemClock.now()) : undefined
}

/** Returns the JSON body of a 401 response to a request whose session is over. */
export function signedOutBody(parts: NoticeParts, message: IncomingMessage, ended: EndedState): SignedOutBody {
  const { title, text, at = null } = wordNotice(ended, parts.textsFor(viewOf(message)), undefined, systemClock.now())
  const { kind = null, device = null, note = null } = ended.cause ?? {}
  const { status } = new SessmgrError('session_ended', title)
  const data = { status, reason: ended.reason, kind, at, device, note }
  return { code: 'session_ended', message: `${title} ${text}`, data }
}

const signedValues = ({ siteSecrets }: NoticeParts) => createSignedValues(() => siteSecrets.all(), systemClock)

/**
 * Reads the notice in a cookie. Resolves to undefined if there is no valid cookie, or to null if it cannot be checked
 * now.
 */
async function readKept(parts: NoticeParts, { sent }: NoticeCookie): Promise<KeptNotice | null | undefined> {
  try {
    return (await signedValues(parts).read(PURPOSE, sent)) as KeptNotice | undefined
  } catch {
    // The secrets cannot be read now, so the cookie waits for the next page.
    return null
  }
}

/** Signs a notice as shown. Resolves to undefined if the cause is unknown, or if the notice cannot be signed now. */
async function signShown(parts: NoticeParts, ended: EndedState): Promise<string | undefined> {
  if (!ended.cause) return undefined
  const content: KeptNotice = { ...cutToSize(ended), shown: true }
  return signedValues(parts)
    .sign(PURPOSE, content, NOTICE_MS)
    .catch(() => undefined)
}

/** Shortens the note of a cause so that the cookie stays small. */
function cutToSize({ reason, cause }: EndedState): EndedState {
  if (!cause?.note) return cause ? { reason, cause } : { reason }
  const letters = [...cause.note]
  const cut = () => ({ reason, cause: { ...cause, note: letters.join('') } })
  while (Buffer.byteLength(JSON.stringify(cut())) > MOST_BYTES) letters.pop()
  return cut()
}

const MINUTE_MS = 60_000

/** Causes whose sentence names a device. */
const BY_DEVICE: readonly EndedKind[] = ['displaced', 'chosen', 'idle', 'user']
/** Causes that may be someone else's doing. */
const SUSPICIOUS: readonly EndedKind[] = ['displaced', 'chosen', 'user', 'reused']

/** The values of a sentence's placeholders, as plain text or as HTML. */
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
  return kind === 'admin' || kind === 'reused' ? `notice_${kind}` : 'notice_at'
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function fill(template: string, parts: Parts): string {
  return template.replaceAll(/\{(ago|time|device)\}/g, (_, name: keyof Parts) => parts[name])
}

/** Browsers accept this name only from the host itself, so no subdomain can plant a notice. */
const HOST_NAME = `__Host-${NOTICE_COOKIE}`

/** How long a notice waits for a page to show it, and how long pages repeat it afterwards. */
const NOTICE_MS = 10 * 60_000

/** The cookie that keeps the notice of a request. It has the attributes of the session cookie. */
export class NoticeCookie {
  readonly #name: string
  readonly #attributes: { path: string; domain?: string; secure: boolean; httpOnly: true; sameSite: 'lax' }
  /** The value of the notice cookie in the request. */
  readonly sent: string | undefined
  /** Names of all cookies in the request that may be the notice cookie. */
  readonly #names: readonly string[]

  constructor(message: IncomingMessage) {
    const { path = '/', domain, secure } = cookieScopeOf(message as HostRequest)
    const isSecure = secure === undefined ? isEncrypted(message) : secure === true
    const isOfHost = isSecure && path === '/' && !domain
    this.#name = isOfHost ? HOST_NAME : NOTICE_COOKIE
    this.#attributes = { path, ...(domain && { domain }), secure: isSecure, httpOnly: true, sameSite: 'lax' }
    const cookies = parseCookie(message.headers.cookie ?? '')
    this.sent = cookies[this.#name]
    this.#names = [HOST_NAME, NOTICE_COOKIE].filter((name) => cookies[name] !== undefined)
  }

  set(response: ServerResponse, value: string): void {
    const cookie = stringifySetCookie({ name: this.#name, value, ...this.#attributes, maxAge: NOTICE_MS / 1000 })
    const others = cookiesOf(response).filter((other) => !other.startsWith(`${this.#name}=`))
    response.setHeader('Set-Cookie', [...others, cookie])
  }

  /** Removes the notice cookie from the browser, with and without the prefix, unless the response sets a new one. */
  clear(response: ServerResponse): void {
    for (const name of this.#names) {
      if (cookiesOf(response).some((cookie) => cookie.startsWith(`${name}=`))) continue
      const secure = this.#attributes.secure || name === HOST_NAME
      append(response, stringifySetCookie({ name, value: '', ...this.#attributes, secure, expires: new Date(0) }))
    }
  }
}

/** Removes the notice of a request whose user has signed in. */
export function clearNotice({ raw }: Visit, response: ServerResponse): void {
  const cookie = new NoticeCookie(raw)
  changeCookies(response, () => cookie.clear(response))
}

/**
 * Checks whether the browser uses HTTPS, perhaps terminated by a proxy. A client that lies about it only loses its own
 * cookie.
 */
function isEncrypted({ socket, headers }: IncomingMessage): boolean {
  return (socket as TLSSocket).encrypted === true || /^https\b/.test(String(headers['x-forwarded-proto']))
}

function append(response: ServerResponse, cookie: string): void {
  response.setHeader('Set-Cookie', [...cookiesOf(response), cookie])
}
