import type { SessmgrOptions } from '../../../src/index.ts'
import { type Answer, type Browser, loggedIn } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { startFetchHost } from '../../support/fetch-host.ts'
import type { HostSetup, HostUnderTest, StartHost } from '../../support/host-under-test.ts'
import { startKoaHost } from '../../support/koa-host.ts'

/** Every framework in which Passport signs in. */
export const HOSTS: [name: string, start: StartHost][] = [
  ['Express', startExpressHost],
  ['Fastify', startFastifyHost],
  ['Koa', startKoaHost],
]

/** Every way to put the page into an application. */
export const ALL_HOSTS: typeof HOSTS = [...HOSTS, ['a Request', startFetchHost]]

export const PAGE = '/login/choose'
export const COOKIE = 'sessmgr_pending'
export const AS_SCRIPT = { accept: 'application/json' }

/** The data with which a login is told to choose. */
export interface Choice {
  readonly status: number
  readonly need: number
  readonly maximum: number
  readonly expires_in: number
  readonly choice_url: string
  readonly sessions: readonly { token: string; device: string | null; last_seen_at: number }[]
}

/** Starts an application in mode `ask` with the page, in which bob has as many sessions as he may have. */
export async function startFull(start: StartHost, { sessmgr, ...setup }: HostSetup = {}, maximum = 1) {
  const options: SessmgrOptions = { settings: { maximum, logic: 'ask' }, ...sessmgr }
  const host = await start({ choice: {}, ...setup, sessmgr: options })
  const inside: Browser[] = []
  for (let count = 0; count < maximum; count++) inside.push(await signIn(host, 'bob'))
  return { host, inside }
}

/** Signs a user in who has room. */
export async function signIn(host: HostUnderTest, login: string): Promise<Browser> {
  const browser = await loggedIn(host, login)
  if ((await browser.me()) !== 200) throw new Error(`${login} could not sign in`)
  return browser
}

/** A browser in which bob has sent his password, as a script does, and what he has to choose. */
export async function ask(host: HostUnderTest, browser = host.browser()) {
  const answer = await browser.login('bob', AS_SCRIPT)
  if (answer.status !== 409) throw new Error(`the login was answered ${answer.status} ${answer.text}`)
  const { data } = answer.json<{ data: Choice }>()
  return { browser, data, tokens: data.sessions.map(({ token }) => token), secret: browser.cookies.get(COOKIE)?.value }
}

/** Sends a choice, as a script does. */
export function choose(browser: Browser, end: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return browser.request('POST', PAGE, { json: { end }, headers: { ...AS_SCRIPT, ...headers } })
}

/** Status and code of an answer. */
export function codeOf({ status, text }: Answer): string {
  return `${status} ${text.startsWith('{') ? (JSON.parse(text).code ?? 'ok') : ''}`
}
