import { expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { rounds } from '../../support/rounds.ts'
import { highestWhile } from '../../support/watch-count.ts'

const LOGINS = rounds(30)
const IN_FLIGHT = 150
/** Every third visitor has filled a cart before signing in. */
const withCart = (index: number) => index % 3 === 0

test.each([
  { way: 'plain', order: 'before' },
  { way: 'logIn', order: 'after' },
  { way: 'limiter', order: 'before' },
] as const)(
  `rules 5 and 11: ${LOGINS} parallel logins of one account by $way, sessmgr $order passport.session(), never hold more than the maximum`,
  async (setup) => {
    const host = await startExpressHost({ ...setup, settings: { maximum: 3, logic: 'block' } })
    host.store.writeTurns = 3
    const logins = () =>
      inParallel(LOGINS, IN_FLIGHT, async (index) => {
        const browser = host.browser()
        if (withCart(index)) await browser.post('/cart', { item: `tea ${index}` })
        return { index, browser, answer: await browser.login('alice') }
      })
    const { result: attempts, highest, samples } = await highestWhile(() => host.limiter.sessions.count(2), logins)
    expect(samples).toBeGreaterThan(LOGINS / 20)
    expect(highest).toBe(3)
    expect(host.errors.filter((error) => (error as { status?: number }).status !== 403)).toEqual([])
    const refused = attempts.filter(({ answer }) => answer.status === 403)
    const admitted = attempts.filter(({ answer }) => answer.status === 200)
    expect([admitted.length, refused.length]).toEqual([3, LOGINS - 3])
    expect(host.limiter.hooks.didAction('sessmgr_login_blocked')).toBe(LOGINS - 3)
    const states = await Promise.all(attempts.map(({ browser }) => browser.me()))
    expect(states.filter((status) => status === 200)).toHaveLength(3)
    // The anonymous session of a refused visitor is what it was.
    for (const { index, browser } of refused.filter((each) => withCart(each.index))) {
      expect((await browser.get('/cart')).json()).toEqual([`tea ${index}`])
    }
  },
)

test('rule 5: parallel logins of many accounts do not disturb each other', async () => {
  const host = await startExpressHost({ settings: { maximum: 2, logic: 'block' } })
  const answers = await inParallel(40, IN_FLIGHT, async (index) => {
    return (await host.browser().login(`user${index % 8}`)).status
  })
  expect(answers.filter((status) => status === 200)).toHaveLength(16)
  for (let user = 0; user < 8; user++) expect(await host.limiter.sessions.count(1000 + user)).toBe(2)
})
