import type passport from 'passport'
import { expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'

const REFUSED = "You've reached the limit of devices signed in to this account. Sign out on one of them and try again."
const WRONG = 'Wrong user name or password.'

/** Passport takes an object for failureFlash too; its types leave that out. */
type Options = Omit<passport.AuthenticateOptions, 'failureFlash'> & { failureFlash?: unknown }

interface Messages {
  readonly messages: readonly string[]
  readonly flash: Record<string, readonly string[]>
}

/** What a visitor with a filled cart sees of a failed login, its own sentence replaced by `reason`. */
async function failure(browser: Browser, password: string) {
  await browser.post('/cart', { item: 'tea' })
  const answer = await browser.post('/login', { username: 'alice', password })
  const shown = (await browser.get('/messages')).text.replaceAll(REFUSED, 'reason').replaceAll(WRONG, 'reason')
  const { messages, flash } = JSON.parse(shown) as Messages
  return {
    toErrorHandler: answer.text.includes('handledByApplication'),
    location: answer.location,
    newCookies: answer.setCookies,
    messages,
    flash,
    cart: (await browser.get('/cart')).json(),
    me: await browser.me(),
  }
}

async function bothFailures(options: Options) {
  const authenticate = options as passport.AuthenticateOptions
  const host = await startExpressHost({ authenticate, settings: { logic: 'block' } })
  await host.signedIn('alice')
  return { refused: await failure(host.browser(), 'secret'), wrong: await failure(host.browser(), 'not the password') }
}

test.each<[options: Options, messages: string[], flash?: Messages['flash']]>([
  [{ failureRedirect: '/login?failed=1' }, []],
  [{ failureRedirect: '/login', failureFlash: true }, [], { error: ['reason'] }],
  [
    { failureRedirect: '/login', failureFlash: { type: 'warning', message: 'Try again.' } },
    [],
    { warning: ['Try again.'] },
  ],
  [{ failureRedirect: '/login', failureFlash: { type: 'warning' } }, [], { warning: ['reason'] }],
  [
    { failureRedirect: '/login', failureMessage: 'Try again.', failureFlash: 'Once more.' },
    ['Try again.'],
    { error: ['Once more.'] },
  ],
  [{ failureRedirect: '/login', failureMessage: true, failWithError: true }, ['reason']],
  [{ failWithError: true }, []],
  [{ failWithError: true, failureMessage: true, failureFlash: true }, ['reason'], { error: ['reason'] }],
])('rule 11: a refused login looks like a wrong password with %j', async (options, messages, flash = {}) => {
  const { refused, wrong } = await bothFailures(options)
  expect(refused).toEqual(wrong)
  const location = options.failureRedirect ?? null
  expect(refused).toMatchObject({ location, toErrorHandler: location === null, messages, cart: ['tea'], me: 401 })
  expect(refused.flash).toEqual(flash)
})

const WITH_MESSAGES = {
  authenticate: { failureRedirect: '/login', failureMessage: true },
  settings: { logic: 'block' },
}

test('rule 11: messages of earlier failures stay', async () => {
  const host = await startExpressHost(WITH_MESSAGES)
  await host.signedIn('alice')
  const browser = host.browser()
  await browser.post('/login', { username: 'alice', password: 'not the password' })
  await browser.login('alice')
  expect((await browser.get('/messages')).json<Messages>().messages).toEqual([WRONG, REFUSED])
})

test('rule 11: the sentence is the one that sessmgr_error_message makes of it', async () => {
  const host = await startExpressHost(WITH_MESSAGES)
  host.limiter.hooks.addFilter('sessmgr_error_message', 'test', async (message) => `Sorry. ${message}`)
  await host.signedIn('alice')
  const browser = host.browser()
  await browser.login('alice')
  expect((await browser.get('/messages')).json<Messages>().messages).toEqual([`Sorry. ${REFUSED}`])
  const script = await host.browser().login('alice', { accept: 'application/json' })
  expect(script.json()).toEqual({ code: 'login_limit_reached', message: `Sorry. ${REFUSED}`, data: { status: 403 } })
})
