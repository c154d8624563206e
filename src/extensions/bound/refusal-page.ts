import {
  type HostResponse,
  htmlText,
  keepCookiesOut,
  type RoutedRequest,
  type Say,
  type SessmgrErrorCode,
  sendPage,
} from '../../extend.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'

/**
 * Why a request is refused: its session must be bound, and is not; its browser says that it could not get a proof in
 * time; or it has the cookie of a bound session, but no proof.
 */
export type Refusal = Extract<SessmgrErrorCode, 'device_not_bound' | 'device_proof_delayed' | 'device_proof_missing'>

const STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}' +
  'h1{font-size:1.25rem}button{font:inherit;padding:.5rem 1rem}'

/**
 * Requests a page again at once, by this site itself, because browsers get no proof for a request that another site
 * begins. Not twice in five seconds: browsers without a key, such as Firefox, would go on for ever. Nor in a sandbox, where
 * there is no storage, and each request would be as the first.
 */
const RELOAD =
  'let s=sessionStorage,n=Date.now();if(!(Math.abs(n-s.sessmgr_bound)<5e3)){s.sessmgr_bound=n;location.reload()}'
/** Shows the sentence only if the page is still there after a moment, as after a download. */
const LATER = '<style>main{animation:a 1.5s}@keyframes a{0%,to{visibility:hidden}}</style>'
/** Makes the button lead to the start page, as after a request that cannot be repeated. */
const TO_START = '<meta name="referrer" content="origin">'
const AGAIN = `${LATER}<script>${RELOAD}</script><noscript><meta http-equiv="refresh" content="0"></noscript>`
/** Returns the policy of that page, which allows no other script. */
function againPolicy(): string {
  const hash = nodeCrypto().hash('sha256', RELOAD, 'base64')
  return `script-src 'sha256-${hash}'`
}

interface PageParts {
  readonly say: Say
  /** Why the request is refused, or that another site has led to the page. */
  readonly refusal: Refusal | 'device_led_here'
  /** Path of the route that ends the session. */
  readonly leave: string
}

/** Sends the page of a refusal. */
export function sendRefusal(request: RoutedRequest, response: HostResponse, parts: PageParts): void {
  const isLed = parts.refusal === 'device_led_here'
  const more = request.method !== 'GET' ? TO_START : isLed ? AGAIN : ''
  keepCookiesOut(response)
  response.setHeader('Content-Security-Policy', isLed ? againPolicy() : "frame-ancestors 'none'")
  sendPage(request, response, 401, pageOf(parts, more))
}

/** Draws that page. @param more What is at its end, as nothing that follows a reload is read. */
function pageOf({ say, refusal, leave }: PageParts, more: string): string {
  const text = (key: Parameters<Say>[0]) => htmlText(say(key))
  const title = text(`${refusal}_title`)
  // A browser that has lost its key gets the button when the site itself requests the page.
  const form =
    refusal === 'device_led_here' || refusal === 'device_proof_delayed'
      ? ''
      : `<form method="post" action="${htmlText(leave)}"><button>${text('device_leave')}</button></form>`
  return (
    `<!doctype html><html lang="${text('lang')}" dir="${text('dir')}"><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head><body><main>` +
    `<h1>${title}</h1><p>${text(refusal)}</p>${form}</main>${more}</body></html>`
  )
}
