import type passport from 'passport'
import { describe, expect, test } from 'vitest'
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
  return {
    refused: await failure(host.browser(), 'secret'),
    wrong: await failure(host.browser(), 'not the password'),
  }
}

describe('rule 11: a refused login looks like a wrong password', () => {
  const unsaid = { messages: [], flash: {} }
  const cases: [Options, Messages][] = [
    [{ failureRedirect: '/login' }, unsaid],
    [
      { failureRedirect: '/login?failed=1', failureFlash: true },
      { messages: [], flash: { error: ['reason'] } },
    ],
    [
      { failureRedirect: '/login', failureFlash: 'Try again.' },
      { messages: [], flash: { error: ['Try again.'] } },
    ],
    [
      { failureRedirect: '/login', failureFlash: { type: 'warning', message: 'Try again.' } },
      { messages: [], flash: { warning: ['Try again.'] } },
    ],
    [
      { failureRedirect: '/login', failureFlash: { type: 'warning' } },
      { messages: [], flash: { warning: ['reason'] } },
    ],
    [
      { failureRedirect: '/login', failureMessage: true },
      { messages: ['reason'], flash: {} },
    ],
    [
      { failureRedirect: '/login', failureMessage: 'Try again.' },
      { messages: ['Try again.'], flash: {} },
    ],
    [
      { failureRedirect: '/login', failureMessage: true, failureFlash: true },
      { messages: ['reason'], flash: { error: ['reason'] } },
    ],
    [{ failureRedirect: '/login', failWithError: true }, unsaid],
  ]

  test.each(cases)('with %j', async (options, said) => {
    const { refused, wrong } = await bothFailures(options)
    expect(refused).toEqual(wrong)
    expect(refused).toMatchObject({ location: options.failureRedirect, ...said, cart: ['tea'], me: 401 })
  })

  test.each<[Options, Messages]>([
    [{ failWithError: true }, unsaid],
    [
      { failWithError: true, failureMessage: true },
      { messages: ['reason'], flash: {} },
    ],
    [
      { failWithError: true, failureFlash: true },
      { messages: [], flash: { error: ['reason'] } },
    ],
  ])('at the error handler with %j', async (options, said) => {
    const { refused, wrong } = await bothFailures(options)
    expect(refused).toEqual(wrong)
    expect(refused).toMatchObject({ toErrorHandler: true, location: null, ...said, cart: ['tea'], me: 401 })
  })
})

test('rule 11: messages of earlier failures stay', async () => {
  const host = await startExpressHost({
    authenticate: { failureRedirect: '/login', failureMessage: true },
    settings: { logic: 'block' },
  })
  await host.signedIn('alice')
  const browser = host.browser()
  await browser.post('/login', { username: 'alice', password: 'not the password' })
  await browser.login('alice')
  expect((await browser.get('/messages')).json<Messages>().messages).toEqual([WRONG, REFUSED])
})

test('rule 11: the sentence is the one that sessmgr_error_message makes of it', async () => {
  const host = await startExpressHost({
    authenticate: { failureRedirect: '/login', failureMessage: true },
    settings: { logic: 'block' },
  })
  host.limiter.hooks.addFilter('sessmgr_error_message', 'test', async (message) => `Sorry. ${message}`)
  await host.signedIn('alice')
  const browser = host.browser()
  await browser.login('alice')
  expect((await browser.get('/messages')).json<Messages>().messages).toEqual([`Sorry. ${REFUSED}`])
  const script = await host.browser().login('alice', { accept: 'application/json' })
  expect(script.json()).toEqual({ code: 'login_limit_reached', message: `Sorry. ${REFUSED}`, data: { status: 403 } })
})
