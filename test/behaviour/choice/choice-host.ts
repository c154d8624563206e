import type { ChoiceOptions, SessmgrOptions } from '../../../src/index.ts'
import type { Answer, Browser, Form } from '../../support/browser.ts'
import { type ExpressHost, startExpressHost } from '../../support/express-host.ts'
import { AGENTS } from '../../support/user-agents.ts'

/** Id of the user who signs in. */
export const BOB = 3
export const CHOOSE = '/login/choose'

/** A browser that asks for pages, on one of the devices. */
type Device = keyof typeof AGENTS

/** Starts an application in mode `ask`, in which a login is answered as a browser sees it. */
export function startAskingHost(maximum: number, choice: ChoiceOptions = {}, sessmgr: SessmgrOptions = {}) {
  return startExpressHost({
    sessmgr: { settings: { maximum, logic: 'ask' }, ...sessmgr },
    choice,
    authenticate: { failureRedirect: '/login' },
  })
}

/** Posts the login form of bob from a device, in a browser of its own. */
async function logIn(host: Pick<ExpressHost, 'browser'>, device: Device): Promise<[Browser, Answer]> {
  const browser = host.browser()
  return [browser, await browser.login('bob', { 'user-agent': AGENTS[device], accept: 'text/html' })]
}

/** Signs bob in on devices, up to the limit. */
export async function signedIn(host: Pick<ExpressHost, 'browser'>, ...devices: Device[]): Promise<Browser[]> {
  const browsers: Browser[] = []
  for (const device of devices) {
    const [browser] = await logIn(host, device)
    if ((await browser.me()) !== 200) throw new Error(`bob could not sign in on ${device}`)
    browsers.push(browser)
  }
  return browsers
}

/** Logs bob in beyond the limit, and returns the browser with the page where he chooses. */
export async function asked(host: Pick<ExpressHost, 'browser'>, device: Device = 'iphone'): Promise<[Browser, Answer]> {
  const [browser, login] = await logIn(host, device)
  if (login.status !== 303 || login.location !== CHOOSE) throw new Error(`${login.status} ${login.location}`)
  return [browser, await browser.get(CHOOSE)]
}

/** The proof in the form of a page. */
export const proofIn = ({ text }: Answer): string => /name="proof" value="([^"]+)"/.exec(text)?.[1] ?? ''

/** The token of a device that a page lists. */
export function tokenOn({ text }: Answer, device = ''): string {
  const row = text.split(/(?=name="end")/).find((part) => part.startsWith('name="end"') && part.includes(device)) ?? ''
  return /value="(\w+)"/.exec(row)?.[1] ?? ''
}

/** The form of a page that ends sessions, which sends its proof too. */
export const choosing = (page: Answer, ...devices: string[]): Form => [
  ['proof', proofIn(page)],
  ...devices.map((device): [string, string] => ['end', tokenOn(page, device)]),
]
