import { describe, expect, test } from 'vitest'
import type { Answer, Browser } from '../../support/browser.ts'
import { type ExpressHost, startExpressHost } from '../../support/express-host.ts'
import type { LoginWay } from '../../support/express-logins.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { rounds } from '../../support/rounds.ts'
import { highestCount } from '../../support/watch-count.ts'

const LOGINS = rounds(40)
const FEW_LOGINS = rounds(20)
const IN_FLIGHT = 150
/** Every tenth visitor has filled a cart before signing in. */
const withCart = (index: number) => index % 10 === 0

interface Attempt {
  readonly browser: Browser
  readonly answer: Answer
}

async function signInTogether(host: ExpressHost, logins: number): Promise<readonly Attempt[]> {
  return inParallel(logins, IN_FLIGHT, async (index) => {
    const browser = host.browser()
    if (withCart(index)) await browser.post('/cart', { item: `tea ${index}` })
    return { browser, answer: await browser.login('alice') }
  })
}

function statuses(attempts: readonly Attempt[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { answer } of attempts) counts[answer.status] = (counts[answer.status] ?? 0) + 1
  return counts
}

async function signedInBrowsers(attempts: readonly Attempt[]): Promise<number> {
  const states = await inParallel(
    attempts.length,
    IN_FLIGHT,
    (index) => attempts[index]?.browser.me() as Promise<number>,
  )
  return states.filter((status) => status === 200).length
}

const modes = [
  { logic: 'allow', maximum: 3 },
  { logic: 'logout_oldest', maximum: 1 },
  { logic: 'block', maximum: 1 },
] as const

describe.each(modes)(
  `rule 5: ${LOGINS} parallel logins of one account in mode $logic, maximum $maximum`,
  (settings) => {
    test('never hold more than the maximum, and end in sessions that work', async () => {
      const host = await startExpressHost({ settings })
      let attempts: readonly Attempt[] = []
      const { highest, samples } = await highestCount(host.limiter, 2, async () => {
        attempts = await signInTogether(host, LOGINS)
      })
      expect(samples).toBeGreaterThan(LOGINS / 20)
      expect(highest).toBeLessThanOrEqual(settings.maximum)
      expect(host.errors.filter((error) => (error as { status?: number }).status !== 403)).toEqual([])

      const count = await host.limiter.sessions.count(2)
      expect(await signedInBrowsers(attempts)).toBe(count)
      if (settings.logic === 'block') {
        expect(statuses(attempts)).toEqual({ 200: settings.maximum, 403: LOGINS - settings.maximum })
        expect(count).toBe(settings.maximum)
        expect(host.limiter.hooks.didAction('sessmgr_login_blocked')).toBe(LOGINS - settings.maximum)
        await expectCartsUntouched(attempts)
      } else {
        expect(statuses(attempts)).toEqual({ 200: LOGINS })
        expect(count).toBe(settings.logic === 'logout_oldest' ? settings.maximum : liveAfterAllow(settings.maximum))
      }
    })
  },
)

/** In mode `allow` a login at the limit leaves itself alone, and the next ones fill up again: 1, 2, 3, 1, 2, 3, … */
function liveAfterAllow(maximum: number): number {
  return ((LOGINS - 1) % maximum) + 1
}

/** Rule 11: the anonymous session of a refused visitor is what it was. */
async function expectCartsUntouched(attempts: readonly Attempt[]): Promise<void> {
  const refused = attempts.map(({ answer }) => answer.status === 403)
  const carts = attempts.map((_, index) => index).filter((index) => withCart(index) && refused[index])
  expect(carts.length).toBeGreaterThan(LOGINS / 20)
  await inParallel(carts.length, IN_FLIGHT, async (at) => {
    const index = carts[at] as number
    const cart = await attempts[index]?.browser.get('/cart')
    expect(cart?.json()).toEqual([`tea ${index}`])
  })
}

const ways: LoginWay[] = ['callback', 'logIn', 'limiter']
const otherSetups = ways.flatMap((way) => (['before', 'after'] as const).map((order) => ({ way, order })))

test.each(otherSetups)(
  `rule 5: ${FEW_LOGINS} parallel logins by $way, sessmgr $order passport.session()`,
  async (setup) => {
    const host = await startExpressHost({ ...setup, settings: { maximum: 3, logic: 'block' } })
    host.store.writeTurns = 3
    let attempts: readonly Attempt[] = []
    const { highest } = await highestCount(host.limiter, 2, async () => {
      attempts = await signInTogether(host, FEW_LOGINS)
    })
    expect(highest).toBe(3)
    expect(statuses(attempts)).toEqual({ 200: 3, 403: FEW_LOGINS - 3 })
    expect(await signedInBrowsers(attempts)).toBe(3)
  },
)

test('rule 5: parallel logins of many accounts do not disturb each other', async () => {
  const host = await startExpressHost({ settings: { maximum: 2, logic: 'block' } })
  const answers = await inParallel(60, IN_FLIGHT, async (index) => {
    return (await host.browser().login(`user${index % 12}`)).status
  })
  expect(answers.filter((status) => status === 200)).toHaveLength(24)
  for (let user = 0; user < 12; user++) expect(await host.limiter.sessions.count(1000 + user)).toBe(2)
})
