import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { Answer, Browser } from './browser.ts'

/** What the site tells a browser about a bound session. */
interface Instructions {
  readonly session_identifier: string
  readonly refresh_url: string
  readonly credentials: readonly { readonly name: string; readonly attributes: string }[]
}

/** The key of a browser that can bind sessions. It answers challenges as such a browser does. */
export class DeviceKey {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  instructions: Instructions | undefined

  /** Returns a signed answer to a challenge. Several parts of it may be wrong. */
  answerTo(challenge: string, { head = {}, by = this }: { head?: object; by?: DeviceKey } = {}): string {
    const jwk = this.publicKey.export({ format: 'jwk' })
    const parts = [{ alg: 'ES256', typ: 'dbsc+jwt', jwk, ...head }, { jti: challenge }]
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    const how = { key: by.#keys.privateKey, dsaEncoding: 'ieee-p1363' } as const
    return `${text}.${sign('sha256', Buffer.from(text), how).toString('base64url')}`
  }

  get publicKey(): KeyObject {
    return this.#keys.publicKey
  }

  /** The public key, as the site stores it. */
  get bound(): string | undefined {
    return this.instructions?.session_identifier.split('.')[0]
  }

  /** Registers the key, as the response to a login asks. */
  async register(browser: Browser, login: Answer): Promise<Answer> {
    const { path, challenge } = registrationIn(login) ?? {}
    if (!path || !challenge) throw new Error('The response asks for no key')
    const answer = await send(browser, path, { 'secure-session-response': this.answerTo(challenge) })
    if (answer.status === 200) this.instructions = answer.json<Instructions & Record<string, unknown>>()
    return answer
  }

  /** Returns a new challenge for the session. */
  async challenge(browser: Browser): Promise<string> {
    const { refresh_url = '', session_identifier = '' } = this.instructions ?? {}
    const { headers } = await send(browser, refresh_url, { 'sec-secure-session-id': `"${session_identifier}"` })
    return /^"(.*)";id=/.exec(headers.get('secure-session-challenge') ?? '')?.[1] ?? ''
  }

  /** Sends an answer to a challenge. */
  prove(browser: Browser, answer: string): Promise<Answer> {
    const { refresh_url = '', session_identifier = '' } = this.instructions ?? {}
    return send(browser, refresh_url, {
      'sec-secure-session-id': `"${session_identifier}"`,
      'secure-session-response': answer,
    })
  }

  /** Gets a new proof, as a browser does once the last one is over. */
  async refresh(browser: Browser): Promise<Answer> {
    return this.prove(browser, this.answerTo(await this.challenge(browser)))
  }
}

/** Returns what a response asks of the browser, or undefined if it asks for no key. */
export function registrationIn({ headers }: Answer): { path?: string; challenge?: string } | undefined {
  const text = headers.get('secure-session-registration')
  return text === null ? undefined : /^\(ES256\);path="(?<path>.*)";challenge="(?<challenge>.*)"$/.exec(text)?.groups
}

/** The names of the cookies in which a browser keeps its proofs. */
export const proofNames = (browser: Browser) =>
  [...browser.cookies.keys()].filter((name) => name.includes('sessmgr_bound_'))

/** Removes the proofs from a browser. */
export function loseProof(browser: Browser): void {
  for (const name of proofNames(browser)) browser.cookies.delete(name)
}

const send = (browser: Browser, path: string, headers: Record<string, string>) =>
  browser.request('POST', path, { headers })
