import type { Request } from 'express'
import { describe, expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { LOGIN_WAYS } from '../../support/express-logins.ts'
import { rounds } from '../../support/rounds.ts'

const LOGINS = rounds(3)

test(`rule 7: re-logins in one browser at maximum 1 all succeed, ${LOGINS} times by every way, and leave one session`, async () => {
  const setups = [
    ...LOGIN_WAYS.map((way) => ({ way, logic: 'block' })),
    ...(['allow', 'logout_oldest'] as const).map((logic) => ({ way: 'plain' as const, logic })),
  ]
  for (const { way, logic } of setups) {
    const host = await startExpressHost({ way, settings: { maximum: 1, logic, idle_release: 3600 } })
    const browser = host.browser()
    const seen = new Set<string | undefined>()
    for (let login = 0; login < LOGINS; login++) {
      const { status, location } = await browser.login('alice')
      expect([way, logic, status, location]).toEqual([way, logic, ...(way === 'redirect' ? [302, '/'] : [200, null])])
      seen.add(browser.sessionId())
    }
    expect([way, logic, seen.size, await browser.me()]).toEqual([way, logic, LOGINS, 200])
    expect([await host.limiter.sessions.count(2), host.store.ids()]).toEqual([1, [browser.sessionId()]])
    expect([host.actions, host.logs]).toEqual([[], []])
  }
})

describe.each(['allow', 'logout_oldest', 'block'])('rule 7: re-logins in one browser in mode %s', (logic) => {
  test('take no slot from another device', async () => {
    const host = await startExpressHost({ settings: { maximum: 2, logic } })
    const [laptop, phone] = [await host.signedIn('alice'), await host.signedIn('alice')]
    for (let login = 0; login < LOGINS; login++) {
      const replaced = laptop.copy()
      expect((await laptop.login('alice')).status).toBe(200)
      expect([await laptop.me(), await phone.me(), await replaced.me()]).toEqual([200, 200, 401])
    }
    expect([await host.limiter.sessions.count(2), host.actions]).toEqual([2, []])
  })

  test('of two tabs at the same moment leave one session at most', async () => {
    const host = await startExpressHost({ settings: { maximum: 1, logic } })
    for (let round = 0; round < rounds(3); round++) {
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
  expect([await browser.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
})

type Own = { userId?: number }

test('rule 7: a login whose session is saved by hand and by the response at once is one login', async () => {
  const host = await startExpressHost({
    settings: { maximum: 1, logic: 'block' },
    sessmgr: { sessionUser: (data: Own) => data.userId } as object,
    further: ({ app }) =>
      app.post('/own-form', (req: Request, res) => {
        req.session.regenerate(() => {
          Object.assign(req.session, { userId: 2 } satisfies Own)
          req.session.save()
          res.send('in')
        })
      }),
  })
  const browser = host.browser()
  expect((await browser.post('/own-form')).status).toBe(200)
  const sessions = await host.limiter.sessions.list(2)
  expect(sessions).toHaveLength(1)
  expect(host.store.read(browser.sessionId())).toMatchObject({ userId: 2, sessmgr: { token: sessions[0]?.token } })
  expect([host.errors, host.actions]).toEqual([[], []])
})
