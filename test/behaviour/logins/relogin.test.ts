import { describe, expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { LOGIN_WAYS } from '../../support/express-logins.ts'
import { rounds } from '../../support/rounds.ts'

const LOGINS = rounds(10)
const modes = ['allow', 'logout_oldest', 'block'] as const

describe.each(modes)('rule 7: re-logins in one browser in mode %s at maximum 1', (logic) => {
  test.each(logic === 'block' ? LOGIN_WAYS : (['plain', 'limiter'] as const))(
    `by %s all succeed, ${LOGINS} times, and leave one session`,
    async (way) => {
      const host = await startExpressHost({ way, settings: { maximum: 1, logic } })
      const browser = host.browser()
      const seen = new Set<string | undefined>()
      for (let login = 0; login < LOGINS; login++) {
        const answer = await browser.login('alice')
        expect([answer.status, answer.location]).toEqual(way === 'redirect' ? [302, '/'] : [200, null])
        seen.add(browser.sessionId())
      }
      expect(seen.size).toBe(LOGINS)
      expect(await browser.me()).toBe(200)
      expect(await host.limiter.sessions.count(2)).toBe(1)
      expect(host.store.ids()).toEqual([browser.sessionId()])
      expect(host.actions).toEqual([])
    },
  )

  test('take no slot from another device', async () => {
    const host = await startExpressHost({ settings: { maximum: 2, logic } })
    const [laptop, phone] = [await host.signedIn('alice'), await host.signedIn('alice')]
    for (let login = 0; login < 10; login++) {
      expect((await laptop.login('alice')).status).toBe(200)
      expect([await laptop.me(), await phone.me()]).toEqual([200, 200])
    }
    expect(host.actions).toEqual([])
  })

  test('of two tabs at the same moment leave one session at most', async () => {
    const host = await startExpressHost({ settings: { maximum: 1, logic } })
    for (let round = 0; round < rounds(5); round++) {
      const tab = await host.signedIn(`user${round}`)
      const tabs = [tab, tab.copy()]
      const answers = await Promise.all(tabs.map((tab) => tab.login(`user${round}`)))
      expect(answers.map(({ status }) => status)).toContain(200)
      expect(await host.limiter.sessions.count(1000 + round)).toBe(1)
      const alive = (await Promise.all(tabs.map((tab) => tab.me()))).filter((status) => status === 200)
      expect(alive).toHaveLength(1)
    }
  })
})

test('rule 7: a re-login that comes after the site-wide logout is a new session', async () => {
  const host = await startExpressHost({ settings: { maximum: 1, logic: 'block' } })
  const browser = await host.signedIn('alice')
  await host.limiter.sessions.logoutAllUsers()
  expect((await browser.login('alice')).status).toBe(200)
  expect(await browser.me()).toBe(200)
  expect(await host.limiter.sessions.count(2)).toBe(1)
})
