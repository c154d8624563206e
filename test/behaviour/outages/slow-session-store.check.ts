import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import { BUSY_HOSTS, COUNT, expectServed, startCrowd } from '../../support/busy-hosts.ts'
import { type ExpressHost, startExpressHost } from '../../support/express-host.ts'
import type { HostUnderTest } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'

describe('a session store that stalls, on every framework', () => {
  test('rule 74: for some seconds refuses nobody', async () => {
    const crowds = await Promise.all(Object.values(BUSY_HOSTS).map((start) => startCrowd(start)))
    const stall = sleep(2500)
    const rushing = crowds.map(async ({ host, rush, expectAsBefore }) => {
      host.sessions.disturb = () => stall
      await expectServed(rush())
      expect(await host.limiter.sessions.count(2)).toBe(2)
      host.sessions.disturb = undefined
      await expectAsBefore()
    })
    await Promise.all(rushing)
  })
})

describe.each(Object.entries(BUSY_HOSTS))('on %s, a session store', (_name, start) => {
  test('rule 74: that fails at every tenth call fails that call only', async () => {
    const { host, rush, expectAsBefore } = await startCrowd(start)
    let calls = 0
    host.sessions.disturb = () => {
      calls += 1
      if (calls % 10 === 0) throw Object.assign(new Error('SQLITE_BUSY'), { code: 'SQLITE_BUSY' })
    }
    const { logins, carts, browsing } = rush()
    const answers = [...(await logins), ...(await carts), ...(await browsing)]
    expect(answers.filter(({ status }) => status >= 400 && status !== 503)).toEqual([])
    expect((await carts).filter(({ status }) => status === 200).length).toBeGreaterThan(COUNT / 2)
    host.sessions.disturb = undefined
    expect(await host.limiter.sessions.count(2)).toBeLessThanOrEqual(2)
    await expectAsBefore()
  })

  test('rule 74: that answers out of order changes nothing', async () => {
    const { host, rush, expectAsBefore } = await startCrowd(start)
    let calls = 0
    host.sessions.disturb = async () => {
      calls += 1
      for (let turns = (calls * 7) % 23; turns > 0; turns--) await nextTurn()
    }
    await expectServed(rush())
    expect(await host.limiter.sessions.count(2)).toBe(2)
    host.sessions.disturb = undefined
    await expectAsBefore()
  })

  test('rule 74: that writes an ended session late does not revive it', async () => {
    const host = await start({})
    const laptop = host.browser()
    await laptop.login('alice')
    const id = host.sessionIdOf(laptop) ?? ''
    const landed = vi.spyOn(host.sessions.sessions, 'set')
    const held = host.sessions.holdNextWrite()
    const adding = laptop.post('/cart', { item: 'tea' })
    await held.arrived
    await host.limiter.sessions.endAll(2)
    expect(host.sessions.ids()).toEqual([])
    held.open()
    expect((await adding).status).toBe(204)
    await vi.waitFor(() => expect(landed).toHaveBeenCalledWith(id, expect.anything()))
    await vi.waitFor(() => expect(host.sessions.ids()).toEqual([]))
    expect(await laptop.me()).toBe(401)
  })
})

describe('once the head of a response has been sent', () => {
  async function signedInOnExpress(session: object = {}) {
    const host = await startExpressHost({
      sessions: new JsonSessions(),
      session,
      further: ({ app }) => {
        app.get('/whole', (req, res) => {
          Reflect.set(req.session, 'seen', 1)
          res.send('whole')
        })
        app.get('/parts', (req, res) => {
          res.write('first, ')
          Reflect.set(req.session, 'seen', 1)
          res.end('last')
        })
        app.get('/unset', (req, res) => {
          Reflect.set(req, 'session', null)
          res.send('gone')
        })
      },
    })
    const laptop = await host.signedIn('alice')
    return { host, laptop, id: laptop.sessionId() ?? '' }
  }

  /** What was logged, without warnings about the set-up, which have no details. */
  const failuresIn = ({ logs }: ExpressHost) => logs.filter(([, details]) => details)

  /** Lets the store fail from the second call on: the read of the session succeeds. */
  function failAfterRead({ sessions }: HostUnderTest): void {
    let calls = 0
    sessions.disturb = (id) => {
      calls += 1
      if (calls > 1) throw new Error(`${id} is locked`)
    }
  }

  test.each([
    ['/whole', 'whole'],
    ['/parts', 'first, last'],
  ])('rule 74: %s is not cut because its session cannot be saved, and the log says so', async (path, text) => {
    const { host, laptop, id } = await signedInOnExpress()
    failAfterRead(host)
    const answer = await laptop.get(path)
    expect([answer.status, answer.text]).toEqual([200, text])
    const message = expect.stringContaining('A session could not be saved after its response was sent')
    const details = { token: tokenOf(id), error: '<session id> is locked' }
    await vi.waitFor(() => expect(failuresIn(host)).toEqual([[message, details]]))
    expect(host.errors).toEqual([])
    host.sessions.disturb = undefined
    expect(await laptop.me()).toBe(200)
  })

  test("rule 74: nor because its session cannot be destroyed, with unset: 'destroy'", async () => {
    const { host, laptop, id } = await signedInOnExpress({ unset: 'destroy' })
    failAfterRead(host)
    const answer = await laptop.get('/unset')
    expect([answer.status, answer.text]).toEqual([200, 'gone'])
    await vi.waitFor(() => expect(failuresIn(host)).toHaveLength(1))
    expect(JSON.stringify(host.logs)).not.toContain(id)
    expect(host.errors).toEqual([])
  })
})
