import type { AccountOptions, Sessmgr, SessmgrOptions } from '../../../src/index.ts'
import type { Answer, Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { startFetchHost } from '../../support/fetch-host.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { AGENTS } from '../../support/user-agents.ts'
import { startHonoHost } from '../hosts/hono-host.ts'

/** An application with the account page at {@link PAGE}. */
export interface AccountHost {
  readonly limiter: Sessmgr
  browser(): Browser
}

type Start = (sessmgr: SessmgrOptions, account?: AccountOptions) => Promise<AccountHost>

/** Every way to put sessmgr into an application. */
export const HOSTS = {
  Express: (sessmgr, account) => startExpressHost({ sessmgr, account }),
  Fastify: (sessmgr, account) => startFastifyHost({ sessmgr, account }),
  Koa: (sessmgr, account) => startKoaHost({ sessmgr, account }),
  'explicit calls': (sessmgr, account) => startHonoHost(sessmgr, undefined, account),
  'a Request': (sessmgr, account) => startFetchHost({ sessmgr, account }),
} satisfies Record<string, Start>

export const PAGE = '/account/sessions'

/** Signs a user in on a device. */
export async function signIn(host: AccountHost, device: keyof typeof AGENTS, login = 'bob'): Promise<Browser> {
  const browser = host.browser()
  const { status } = await browser.login(login, { 'user-agent': AGENTS[device] })
  if (status >= 400) throw new Error(`${login} could not sign in: ${status}`)
  return browser
}

/** What the forms of a page send: the proof, and the token of the session whose button has this device in its label. */
export function formIn({ text }: Answer, device = ''): { proof: string; end: string } {
  const proof = /name="proof" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const end = new RegExp(`name="end" value="(\\w+)" aria-label="Sign out ${device}`).exec(text)?.[1] ?? ''
  return { proof, end }
}

/** Sends a form of the page, and returns the page after it. */
export async function submit(browser: Browser, form: Record<string, string>): Promise<Answer> {
  const { status, location, text } = await browser.post(PAGE, form)
  if (status !== 303 || location !== PAGE) throw new Error(`the form was answered ${status} ${location}: ${text}`)
  return browser.get(PAGE)
}
