import { describe, expect, it } from 'vitest'
import { helpAt } from '../../../src/ground/help.ts'
import type { ActivityLog } from '../../../src/limiter/events.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { LimitStrategy } from '../../../src/strategies/limit-strategy.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { deferred, nextTurn } from '../../support/deferred.ts'
import { createLimiterWorld, type LimiterWorld, SimpleHost } from '../../support/limiter-world.ts'
import { EVERY_SESSION, type FiredAction, recordActions } from '../../support/record-actions.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

function listen(parts?: Parameters<typeof createLimiterWorld>[0]): LimiterWorld & { events: FiredAction[] } {
  const world = createLimiterWorld(parts)
  return { ...world, events: recordActions(world.limiter.hooks, EVERY_SESSION) }
}

/** The ends among events: the raw id of each session with its kind. */
const endsIn = (events: readonly FiredAction[], ids: readonly (string | undefined)[]) =>
  events
    .filter(([name]) => name === 'sessmgr_session_ended')
    .map(([, session, end]) => [
      ids.find((id) => tokenOf(id ?? '') === (session as { token: string }).token),
      (end as { kind: string }).kind,
    ])

describe('the events of a login', () => {
  it('tell of its start, and of the ends that make room for it, with who ended them', async () => {
    const { login, events, clock, limiter } = listen()
    const first = (await login(7)) as string
    const second = (await login(7, { userAgent: FIREFOX, ip: '192.0.2.7' })) as string
    const [session] = await limiter.sessions.list(7)
    const by = { token: tokenOf(second), device: 'Firefox on Linux', ip: '192.0.2.7' }
    const ended = expect.objectContaining({ token: tokenOf(first), userId: 7 })
    expect(events.slice(1)).toEqual([
      ['sessmgr_session_ended', ended, { kind: 'displaced', at: clock.now(), by }],
      ['sessmgr_session_started', session, { replaced: null, displaced: [tokenOf(first)], adopted: false }],
    ])
  })

  it('tell a session of the same browser, and one that the session store has lost, from a displaced one', async () => {
    const { login, events, host } = listen({ settings: { maximum: 2 } })
    const first = (await login(7)) as string
    const second = (await login(7, { replaces: first })) as string
    const third = (await login(7)) as string
    host.ids.delete(second)
    await login(7)
    await login(7)
    expect(endsIn(events, [first, second, third])).toEqual([
      [first, 'replaced'],
      [second, 'lost'],
      [third, 'displaced'],
      [undefined, 'displaced'],
    ])
    const starts = events.filter(([name]) => name === 'sessmgr_session_started').map(([, , how]) => how)
    expect(starts[1]).toEqual({ replaced: tokenOf(first), displaced: [], adopted: false })
    expect(starts[3], 'a lost session makes no room').toMatchObject({ displaced: [] })
  })

  it('tell of a session that keeps its id as replaced by itself, and leave it in the session store', async () => {
    const { limiter, host, events, login } = listen({ settings: { maximum: 2 } })
    await login(7)
    for (const replaces of [undefined, 'raw']) {
      await limiter.admit({ userId: 7, replaces }, async () => host.establish(1000, 'raw'))
    }
    expect(endsIn(events, ['raw'])).toEqual([['raw', 'replaced']])
    expect(events.at(-1)?.[2]).toMatchObject({ replaced: tokenOf('raw') })
    expect(host.ids).toContain('raw')
  })
})

it('a session from before sessmgr starts once, at its first use', async () => {
  const { limiter, events } = listen()
  const session = { sessionId: 'old', ttlMs: 1000, ip: null, userAgent: null, device: null }
  await Promise.all([limiter.adopt(7, session), limiter.adopt(7, session)])
  const record = expect.objectContaining({ token: tokenOf('old') })
  expect(events).toEqual([['sessmgr_session_started', record, { replaced: null, displaced: [], adopted: true }]])
})

const EVERY_ACTION = ['sessmgr_session_ended', 'sessmgr_destroy_session', 'sessmgr_session_started'] as const

/** A world that records, in order, each call to its store, each deletion in the session store, and each action. */
function recordOrder(settings: object) {
  const steps: string[] = []
  const host = new SimpleHost()
  const destroy = host.destroy.bind(host)
  host.destroy = async (id) => {
    steps.push('destroy')
    await destroy(id)
  }
  const clock = fakeClock()
  const store = memoryStore({ clock })
  for (const part of ['sessions', 'epoch', 'options', 'passwords', 'transients'] as const) {
    const get = (target: object, name: string | symbol) => {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...parameters: unknown[]) => {
        steps.push(`${part}.${String(name)}`)
        return method.apply(target, parameters)
      }
    }
    Object.defineProperty(store, part, { value: new Proxy(store[part], { get }) })
  }
  const world = createLimiterWorld({ store, host, clock, settings })
  for (const name of EVERY_ACTION) world.limiter.hooks.addAction(name, 'order', () => void steps.push(name))
  return { ...world, steps }
}

describe('the order of an end', () => {
  it('is the registry, the note, the session store, and the actions', async () => {
    const { login, limiter, steps } = recordOrder({ maximum: 9 })
    const id = (await login(7)) as string
    await login(7)
    const order = ['transients.set', 'destroy', 'sessmgr_destroy_session', 'sessmgr_session_ended']
    for (const end of [
      () => limiter.sessions.end(7, tokenOf(id)),
      async () => limiter.sessions.endOthers(7, tokenOf((await login(7)) as string)),
    ]) {
      steps.length = 0
      await end()
      const last = steps.filter((step) => !['transients.get', 'epoch.current'].includes(step)).slice(-5)
      expect(last).toEqual([expect.stringMatching(/^sessions\.end/), ...order])
    }
  })

  it('is the same where a login takes the place of a session; one that ends nothing reads nothing more', async () => {
    const { login, steps, clock, limiter } = recordOrder({ maximum: 1 })
    await login(7)
    clock.advance(1000)
    steps.length = 0
    await login(7)
    const reads = ['sessions.read', 'epoch.current', 'options.get']
    const ends = ['transients.set', 'destroy', 'sessmgr_session_ended']
    const commit = ['sessions.commit', 'epoch.current']
    expect(steps).toEqual([...reads, ...commit, ...ends, 'sessmgr_session_started'])
    await limiter.settings.update({ maximum: 9 })
    clock.advance(1000)
    steps.length = 0
    await login(7)
    await login(7, { device: 'a'.repeat(16) })
    const whole = [...reads, ...commit, 'sessmgr_session_started']
    // The devices of the user are only read when the login has started.
    expect(steps.slice(0, 2 * whole.length)).toEqual([...whole, ...whole])
  })
})

it('rule 12: an action that there is not, in the decision of a strategy, is logged and changes nothing', async () => {
  const decide = () => ({ admit: true, end: [], actions: [['addon_kicked', 2]] })
  const odd = { id: 'odd', label: 'Odd', decide } as unknown as LimitStrategy
  const { limiter, login, logged } = createLimiterWorld({ strategies: [odd], settings: { logic: 'odd' } })
  for (let logins = 0; logins < 2; logins++) expect(await login(2)).toBeDefined()
  expect((await limiter.explain(2)).nextLogin).toBe('admitted')
  await limiter.close()
  expect(logged).toEqual([[`There is no action "addon_kicked". See ${helpAt('hook_misuse')}`, expect.anything()]])
})

it('the activity log hears of starts, refusals, ends, site-wide logouts and limits that are not enforced', async () => {
  const noted: (readonly unknown[])[] = []
  const log: ActivityLog = { note: (...activity) => void noted.push(activity) }
  const { limiter, login } = createLimiterWorld({ log, settings: { logic: 'block' } })
  for (let logins = 0; logins < 2; logins++) await login(7)
  const [session] = await limiter.sessions.list(7)
  await limiter.sessions.endAll(7)
  const epoch = await limiter.sessions.logoutAllUsers()
  await limiter.settings.update({ enforce: false })
  for (let logins = 0; logins < 2; logins++) await login(8)
  const types = noted.slice(4).map(([type]) => type)
  expect(types).toEqual(['settings.changed', 'session.started', 'login.would_limit', 'session.started'])
  const client = { userId: 7, ip: null, userAgent: null }
  expect(noted.slice(0, 4)).toEqual([
    ['session.started', session, { replaced: null, displaced: [], adopted: false }],
    ['login.refused', client, expect.objectContaining({ mode: 'block', maximum: 1 })],
    ['session.ended', session, expect.objectContaining({ kind: 'app' })],
    ['logout.all', epoch, expect.objectContaining({ kind: 'app' })],
  ])
})

it('a limiter waits for no asynchronous subscriber, until it closes: then its store closes last', async () => {
  const store = memoryStore()
  const events: string[] = []
  store.close = async () => void events.push('closed')
  const { limiter, login } = createLimiterWorld({ store })
  const gate = deferred()
  limiter.hooks.addAction('sessmgr_destroy_all_sessions', 'slow', async () => {
    events.push('asked')
    await gate.promise
    events.push('done')
  })
  for (let logins = 0; logins < 2; logins++) expect(await login(7)).toBeDefined()
  const closing = limiter.close()
  await nextTurn()
  expect(events).toEqual(['asked'])
  gate.resolve()
  await closing
  expect(events).toEqual(['asked', 'done', 'closed'])
})

it('the message of a site-wide logout to other processes is one, and none for its sessions', async () => {
  const sent: string[] = []
  const clock = fakeClock()
  const signals = {
    publish: async (message: string) => void sent.push(message),
    subscribe: async () => async () => {},
  }
  const store = { ...memoryStore({ clock }), signals }
  const { login, limiter } = createLimiterWorld({ store, clock, settings: { maximum: 9 } })
  const id = (await login(7)) as string
  await limiter.sessions.logoutAllUsers()
  await limiter.invalidate(7, id)
  await limiter.close()
  expect(sent).toEqual(['1 logout_all'])
  const others = [await login(7), await login(7)].map((other) => tokenOf(String(other)))
  await Promise.all(others.map((token) => limiter.sessions.end(7, token)))
  await limiter.close()
  expect(sent.slice(1), 'one for all ends of a turn').toEqual([`1 app ${others.join(' ')}`])
})
