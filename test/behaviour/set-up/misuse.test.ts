import { describe, expect, test } from 'vitest'
import type { SessmgrOptions } from '../../../src/index.ts'
import { deferred } from '../../support/deferred.ts'
import { type ExpressHost, startExpressHost } from '../../support/express-host.ts'

/** Alice is signed in on a laptop; a visitor with a filled cart is about to sign in as somebody. */
async function scene(options: SessmgrOptions & { way?: 'plain' | 'limiter' } = {}) {
  const { way = 'plain', ...sessmgrOptions } = options
  const host = await startExpressHost({ way, sessmgr: { settings: { logic: 'allow' }, ...sessmgrOptions } })
  const laptop = await host.signedIn('alice')
  const visitor = host.browser()
  await visitor.post('/cart', { item: 'tea' })
  return { host, laptop, visitor, before: snapshot(host) }
}

function snapshot(host: ExpressHost) {
  return Object.fromEntries(host.store.ids().map((id) => [id, withoutCookie(host.store.read(id))]))
}

function withoutCookie(data: Record<string, unknown> = {}) {
  return { ...data, cookie: undefined }
}

async function expectNothingChanged({ host, laptop, visitor, before }: Awaited<ReturnType<typeof scene>>) {
  expect(snapshot(host)).toEqual(before)
  expect([await laptop.me(), await visitor.me()]).toEqual([200, 401])
  expect((await visitor.get('/cart')).json()).toEqual(['tea'])
  expect(await host.limiter.sessions.count(2)).toBe(1)
  expect(host.actions).toEqual([])
}

const ways = ['plain', 'limiter'] as const

test.each(ways)('a login by %s of a user without an id fails and says where to look', async (way) => {
  const set = await scene({ way })
  const answer = await set.visitor.login('nameless')
  expect([answer.status, answer.setCookies]).toEqual([500, []])
  expect(set.host.errors).toEqual([
    expect.objectContaining({ code: 'user_id_missing', message: expect.stringContaining('sessmgr({ userId:') }),
  ])
  await expectNothingChanged(set)
})

const fail = () => {
  throw new Error('out of order')
}

describe.each(ways)('rule 12: a filter that fails a login by %s changes nothing', (way) => {
  test('with no answer until the deadline, with an error, or with another value than true or false', async () => {
    const set = await scene({ way, deadlineMs: 200 })
    const failures = [
      ['hook_timeout', () => new Promise<boolean>(() => {}), /^The subscriber "an-add-on" .* within 200 ms\.$/],
      ['hook_failed', fail, /^The subscriber "an-add-on" .* failed: out of order$/],
      ['hook_failed', () => undefined as unknown as boolean, /./],
      ['hook_failed', () => 'yes' as unknown as boolean, /./],
    ] as const
    for (const name of ['sessmgr_bypass', 'sessmgr_reached_limit'] as const) {
      for (const [code, filter, words] of failures) {
        const remove = set.host.limiter.hooks.addFilter(name, 'an-add-on', filter)
        const answer = await set.visitor.login('alice')
        remove()
        expect([name, answer.status, answer.setCookies]).toEqual([name, 500, []])
        const [error] = set.host.errors.splice(0)
        expect(error).toMatchObject({ code, message: expect.stringMatching(words) })
        expect((error as Error).message).toContain(`"${name}"`)
        await expectNothingChanged(set)
      }
    }
  })

  test('in the words of a refusal: the login is not admitted', async () => {
    const set = await scene({ way, settings: { logic: 'block' } })
    set.host.limiter.hooks.addFilter('sessmgr_error_message', 'broken-add-on', fail)
    expect((await set.visitor.login('alice')).status).toBe(500)
    await expectNothingChanged(set)
  })
})

describe('rule 12: an action that fails never changes the login', () => {
  test.each([
    ['allow', 'sessmgr_destroy_all_sessions', 200],
    ['logout_oldest', 'sessmgr_destroy_oldest_session', 200],
    ['block', 'sessmgr_login_blocked', 403],
  ] as const)('in mode %s, and the next subscriber runs', async (logic, action, status) => {
    const { host, laptop, visitor } = await scene({ settings: { logic, idle_release: 3600 } })
    host.limiter.hooks.addAction(action, 'broken-add-on', fail, 1)
    expect((await visitor.login('alice')).status).toBe(status)
    expect([await laptop.me(), await visitor.me()]).toEqual(status === 200 ? [401, 200] : [200, 401])
    expect(host.actions).toEqual([[action, 2]])
    expect(host.logs).toEqual([
      [expect.stringContaining(`"broken-add-on" to "${action}" failed: out of order`), expect.anything()],
    ])
  })

  test('and one that hangs keeps nobody waiting', async () => {
    const { host, visitor } = await scene({ deadlineMs: 60_000 })
    const hanging = deferred()
    host.limiter.hooks.addAction('sessmgr_destroy_all_sessions', 'slow-add-on', () => hanging.promise)
    expect((await visitor.login('alice')).status).toBe(200)
    expect(await visitor.me()).toBe(200)
    hanging.resolve()
  })
})
