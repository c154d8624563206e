import { htmlText, type Say, type SessmgrErrorCode } from '../../extend.ts'

/**
 * Why a request is refused: its session must be bound, and is not; its browser says that it could not get a proof in
 * time; or it has the cookie of a bound session, but no proof.
 */
export type Refusal = Extract<SessmgrErrorCode, 'device_not_bound' | 'device_proof_delayed' | 'device_proof_missing'>

const STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}' +
  'h1{font-size:1.25rem}button{font:inherit;padding:.5rem 1rem}'

/** Draws the page of a refusal. @param leave Where its button leads, which ends the session. */
export function pageOf(say: Say, refusal: Refusal, leave: string): string {
  const text = (key: Parameters<Say>[0]) => htmlText(say(key))
  const title = text(`${refusal}_title`)
  const form = `<form method="post" action="${htmlText(leave)}"><button>${text('device_leave')}</button></form>`
  return (
    `<!doctype html><html lang="${text('lang')}" dir="${text('dir')}"><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head><body><main>` +
    `<h1>${title}</h1><p>${text(refusal)}</p>${refusal === 'device_proof_delayed' ? '' : form}</main></body></html>`
  )
}
