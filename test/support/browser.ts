import { type IncomingMessage, request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { send } from './send.ts'

/** The response of a server. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly setCookies: readonly string[]
  readonly text: string
  readonly location: string | null
  json<T = Record<string, unknown>>(): T
}

/** Text of a page, without its markup. */
export const textOf = ({ text }: Answer): string =>
  text
    .replace(/^[\s\S]*<main>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

type Received = Pick<Answer, 'status' | 'headers' | 'text'>

interface Cookie {
  readonly value: string
  readonly path: string
}

/** Fields of a form. A list may contain a field several times. */
export type Form = Record<string, string> | [string, string][]

/** What a request contains besides its path. */
export interface Carried {
  readonly form?: Form
  readonly json?: object
  readonly headers?: Record<string, string>
}

/** A browser that keeps cookies and does not follow redirects. */
export class Browser {
  readonly cookies = new Map<string, Cookie>()
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
  }

  /**
   * Returns a browser with the same cookies, as for another tab or another process of the application. Cookies that it
   * receives stay separate.
   */
  copy(origin = this.#origin): Browser {
    const copy = new Browser(origin)
    for (const [name, cookie] of this.cookies) copy.cookies.set(name, cookie)
    return copy
  }

  get(path: string, carried: Carried = {}): Promise<Answer> {
    return this.request('GET', path, carried)
  }

  post(path: string, form: Form = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('POST', path, { form, headers })
  }

  /** Posts the login form. Every demo user has the password `secret`. */
  login(username: string, headers: Record<string, string> = {}, path = '/login'): Promise<Answer> {
    return this.post(path, { username, password: 'secret' }, headers)
  }

  /** Returns the status of the page that only a signed-in user sees. */
  async me(): Promise<number> {
    return (await this.get('/me')).status
  }

  /**
   * Sends the headers of a form, and its body when `finish` is called, because clients decide how long a request takes.
   */
  hold(path: string, form: Record<string, string> = {}): { finish(): Promise<Answer> } {
    const url = new URL(this.#origin + path)
    const body = new URLSearchParams(form).toString()
    const headers = {
      cookie: this.#cookieHeader(url.pathname),
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(body),
    }
    const held = request(url, { method: 'POST', agent: false, headers })
    const answer = new Promise<IncomingMessage>((resolve, reject) => held.on('response', resolve).on('error', reject))
    answer.catch(() => {})
    held.flushHeaders()
    return {
      finish: async () => {
        held.end(body)
        return this.#answer(await readAll(await answer))
      },
    }
  }

  async request(method: string, path: string, { form, json, headers }: Carried): Promise<Answer> {
    const url = new URL(this.#origin + path)
    const cookie = this.#cookieHeader(url.pathname)
    const sent = { 'user-agent': 'node', accept: '*/*', ...(cookie === '' ? {} : { cookie }) }
    const body = json ? JSON.stringify(json) : form && new URLSearchParams(form).toString()
    const type = json ? 'application/json' : 'application/x-www-form-urlencoded;charset=UTF-8'
    const about = body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }
    const options = { method, headers: { ...about, ...lowerCase({ ...sent, ...headers }) } }
    return this.#answer(await readAll(await send(url, options, body)))
  }

  #answer(response: Received): Answer {
    const setCookies = response.headers.getSetCookie()
    for (const header of setCookies) this.#keep(header)
    const location = response.headers.get('location')
    return { ...response, setCookies, location, json: <T>() => JSON.parse(response.text) as T }
  }

  /** Returns the raw session id in a cookie, without prefix and signature. */
  sessionId(): string | undefined {
    const value = this.cookies.get('connect.sid')?.value
    return value && decodeURIComponent(value).slice(2).split('.')[0]
  }

  #cookieHeader(path: string): string {
    const sent = [...this.cookies].filter(([, cookie]) => path.startsWith(cookie.path))
    return sent.map(([name, { value }]) => `${name}=${value}`).join('; ')
  }

  #keep(header: string): void {
    const [pair = '', ...attributes] = header.split(/; */)
    const [name = '', value = ''] = splitOnce(pair)
    const named = new Map(attributes.map((text) => splitOnce(text)).map(([key, text]) => [key.toLowerCase(), text]))
    const path = named.get('path') ?? '/'
    const expires = named.get('expires')
    const isOver = expires !== undefined && new Date(expires).getTime() <= Date.now()
    if (isOver || named.get('max-age') === '0') {
      // A browser removes a cookie only if the path is the one with which it was set.
      if (this.cookies.get(name)?.path === path) this.cookies.delete(name)
      return
    }
    this.cookies.set(name, { value, path })
  }
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

async function readAll(response: IncomingMessage): Promise<Received> {
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part)
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value)
  }
  const whole = Buffer.concat(parts)
  const coding = response.headers['content-encoding']
  const body = coding === 'br' ? brotliDecompressSync(whole) : coding === 'gzip' ? gunzipSync(whole) : whole
  return { status: response.statusCode ?? 0, headers, text: body.toString() }
}

/** A browser whose requests come through a proxy that ends HTTPS. */
export class HttpsBrowser extends Browser {
  override request(method: string, path: string, carried: Carried): Promise<Answer> {
    return super.request(method, path, { ...carried, headers: { 'x-forwarded-proto': 'https', ...carried.headers } })
  }
}

/** Returns a browser of an application, in which the user has logged in. */
export async function loggedIn(host: { browser(): Browser }, login: string): Promise<Browser> {
  const browser = host.browser()
  await browser.login(login)
  return browser
}
