import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSignedValues } from '../../auth/signed-value.ts'
import { systemClock } from '../../ground/clock.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { LATE_TEXTS } from '../../texts/english.ts'
import { addLateTexts } from '../../texts/text-catalogue.ts'
import type { EndedState, GuardedRequest } from '../host-types.ts'
import { changeCookies } from '../request/change-cookies.ts'
import { viewOf } from '../request/host-visit.ts'
import { asksForPage, givenTo, isShown, noteGiven } from '../request/shows-page.ts'
import { NOTICE_MS, NoticeCookie } from './notice-cookie.ts'
import type { KeepNotice, NoticeParts } from './notice-parts.ts'
import type { SignedOutBody, SignedOutNotice } from './signed-out-notice.ts'
import { wordNotice } from './word-notice.ts'

addLateTexts(LATE_TEXTS)

const PURPOSE = 'notice'

/** The content of the cookie. `shown` is set once a page or a script has shown it, for ten minutes from then. */
type KeptNotice = EndedState & { readonly shown?: boolean }
/** Maximum length of the content. With it, the signed and encoded cookie stays below 1 KiB. */
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
  request: GuardedRequest,
  message: IncomingMessage,
  ended: EndedState,
  response: ServerResponse,
  losesCookie?: () => boolean,
): Promise<KeepNotice> {
  const cookie = new NoticeCookie(request, message)
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
 * other tabs do not stay without a reason.
 *
 * @param isScript Whether a script fetches the notice. If so, it counts as shown at once.
 */
export async function takeNotice(
  parts: NoticeParts,
  request: GuardedRequest,
  message: IncomingMessage,
  response: ServerResponse,
  isScript = false,
): Promise<SignedOutNotice | undefined> {
  const { ended: own, session: live } = request.sessmgr ?? {}
  const cookie = new NoticeCookie(request, message)
  const kept = await readKept(parts, cookie)
  const isOver = kept === undefined || live !== undefined
  const isCertain = own && (own.cause || own.reason !== 'missing')
  const ended = isOver || isCertain ? own : (kept ?? own)
  const isKeptOne = ended !== undefined && ended === kept
  // Once the headers are sent, the cookie would stay, and the next page would show the notice again.
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
 * Reads the notice in a cookie. Resolves to undefined if the cookie is not ours, or to null if there is none or it
 * cannot be checked now.
 */
async function readKept(parts: NoticeParts, { sent }: NoticeCookie): Promise<KeptNotice | null | undefined> {
  try {
    return (await signedValues(parts).read(PURPOSE, sent)) as KeptNotice | undefined
  } catch {
    // The secrets cannot be read now, so the cookie waits for the next page.
    return null
  }
}

/** Signs a notice as shown. Resolves to undefined if nothing is worth repeating, or if it cannot be signed now. */
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
