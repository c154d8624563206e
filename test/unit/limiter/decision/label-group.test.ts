import { afterEach, describe, expect, it, vi } from 'vitest'
import { type LabelLimits, labelsOf } from '../../../../src/limiter/decision/label-group.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'
import { createLimiterWorld, SimpleHost } from '../../../support/limiter-world.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

const DAY = 86_400_000

/** Sessions say their label as their user agent. */
const BY_AGENT: LabelLimits = {
  limits: { d: 1, m: 2 },
  labelOf: ({ userAgent }) => userAgent ?? undefined,
  deadlineMs: 60_000,
}

/** A user with sessions of these labels, oldest first, at a limit that may be lower. */
async function withSessions(logic: string, maximum: number, labels: string) {
  const shared = { store: memoryStore(), host: new SimpleHost() }
  const before = createLimiterWorld({ ...shared, settings: { maximum: 1000 } })
  const ids: string[] = []
  for (const userAgent of labels) ids.push(String(await before.login(7, { userAgent })))
  return { ids, ...createLimiterWorld({ ...shared, settings: { maximum, logic }, labels: BY_AGENT }) }
}

/** What becomes of a login: the numbers of the sessions that end, or of those to choose from. */
async function outcome(logic: string, maximum: number, labels: string, userAgent: string) {
  const { ids, limiter, host } = await withSessions(logic, maximum, labels)
  const numbersOf = (chosen: readonly string[]) =>
    ids.flatMap((id, index) => (chosen.includes(tokenOf(id)) ? index + 1 : []))
  const admission = await limiter.admit({ userId: 7, userAgent, canAsk: true }, async () => host.establish())
  const ended = ids.filter((id) => !host.ids.has(id)).map(tokenOf)
  if (admission.admitted) return `ends ${numbersOf(ended)}`
  expect(ended).toEqual([])
  if (!admission.choice) return 'refused'
  return `${admission.choice.need} of ${numbersOf(admission.choice.sessions.map(({ token }) => token))}`
}

describe('a limit per label: d 1, m 2', () => {
  it('applies to the sessions of the label first, and then the limit of all', async () => {
    for (const [logic, maximum, labels, userAgent, expected] of [
      // Below both limits.
      ['block', 5, 'mmx', 'd', 'ends '],
      // At the label's limit: its sessions alone are concerned.
      ['allow', 5, 'dmxm', 'm', 'ends 2,4'],
      ['logout_oldest', 9, 'ddmdd', 'd', 'ends 1,2,4,5'],
      ['block', 5, 'xdmm', 'd', 'refused'],
      ['ask', 9, 'mdmm', 'm', '2 of 1,3,4'],
      // At the limit of all, but not at the label's: its own sessions go first.
      ['allow', 3, 'mxd', 'm', 'ends 1,2,3'],
      ['logout_oldest', 3, 'xdm', 'm', 'ends 3'],
      ['logout_idlest', 3, 'xdm', 'm', 'ends 3'],
      ['logout_oldest', 2, 'xxm', 'm', 'ends 1,3'],
      ['block', 3, 'xdx', 'm', 'refused'],
      ['ask', 3, 'xdm', 'm', '1 of 1,2,3'],
      // At both: what ends for the label counts for all.
      ['logout_oldest', 3, 'xdd', 'd', 'ends 2,3'],
      ['logout_idlest', 2, 'xmmd', 'd', 'ends 1,2,4'],
      ['allow', 2, 'xmmd', 'd', 'ends 1,2,3,4'],
      ['allow', 4, 'xmmd', 'd', 'ends 4'],
      ['ask', 3, 'mmd', 'd', '1 of 3'],
      // A label without a limit, and no label.
      ['block', 5, 'xxx', 'x', 'ends '],
      ['logout_oldest', 3, 'dxm', 'x', 'ends 1'],
    ] as const) {
      const what = `${logic} at maximum ${maximum}, with sessions ${labels}, a login as ${userAgent}`
      expect(await outcome(logic, maximum, labels, userAgent), what).toBe(expected)
    }
  })

  it('lets the user choose among the sessions of the label, and then among all', async () => {
    const { ids, limiter, host } = await withSessions('ask', 2, 'mxd')
    const choose = (...numbers: number[]) => {
      const ends = numbers.map((number) => tokenOf(ids[number - 1] ?? ''))
      return limiter.admit({ userId: 7, userAgent: 'd', canAsk: true, ends }, async () => host.establish())
    }
    expect(await choose(1)).toMatchObject({ choice: { need: 1, maximum: 1, sessions: { length: 1 } } })
    expect(await choose(3)).toMatchObject({ choice: { need: 2, maximum: 2, sessions: { length: 3 } } })
    expect(await choose(3, 1)).toMatchObject({ admitted: true })
    expect(await limiter.sessions.count(7)).toBe(2)
  })

  it('ends an unused session of the label before others, and only as many as needed', async () => {
    const settings = { maximum: 3, logic: 'block', idle_release: 300 }
    const { login, live, clock } = createLimiterWorld({ labels: BY_AGENT, settings })
    const other = await login(7, { userAgent: 'x' }, DAY)
    await login(7, { userAgent: 'm' }, DAY)
    clock.advance(300_000)
    const used = await login(7, { userAgent: 'm' }, DAY)
    const next = await login(7, { userAgent: 'm' }, DAY)
    expect(await live(7)).toEqual([other, used, next])
    expect(await login(7, { userAgent: 'm' }, DAY)).toBeUndefined()
    const last = await login(7, { userAgent: 'd' }, DAY)
    expect(await live(7)).toEqual([used, next, last])
  })

  it('says which limit refused, or would have', async () => {
    for (const enforce of [true, false]) {
      const { limiter, login } = await withSessions('block', 5, 'dx')
      await limiter.settings.update({ enforce })
      const told: unknown[] = []
      const note = (_: unknown, { label, maximum, live }: { label?: string; maximum: number; live: number }) =>
        void told.push([label, maximum, live])
      limiter.hooks.addAction('sessmgr_login_refused', 'test', note)
      limiter.hooks.addAction('sessmgr_would_limit', 'test', note)
      await login(7, { userAgent: 'd' })
      await limiter.settings.update({ maximum: 1 })
      await login(7, { userAgent: 'x' })
      await limiter.close()
      expect(told).toEqual([
        ['d', 1, 1],
        [undefined, 1, enforce ? 2 : 3],
      ])
    }
  })

  it('does not count what the session store has lost, however young', async () => {
    const { ids, host, login, live } = await withSessions('block', 5, 'mxxm')
    host.ids.delete(ids[0] ?? '')
    const session = await login(7, { userAgent: 'm' })
    expect(await live(7)).toEqual([...ids.slice(1).map(tokenOf), session])
  })

  it('is exact across processes', async () => {
    const shared = { store: memoryStore(), host: new SimpleHost(), labels: BY_AGENT }
    const settings = { maximum: 4, logic: 'block' }
    const worlds = [1, 2].map(() => createLimiterWorld({ ...shared, settings }))
    const agents = Array.from({ length: 40 }, (_, index) => ({ userAgent: 'dmx'.charAt(index % 3) }))
    await Promise.all(agents.map((attempt, index) => worlds[index % 2]?.login(7, attempt)))
    const live = (await worlds[0]?.limiter.sessions.list(7)) ?? []
    const count = (label: string) => live.filter(({ userAgent }) => userAgent === label).length
    expect([live.length, shared.host.ids.size, count('d') <= 1, count('m') <= 2]).toEqual([4, 4, true, true])
  })
})

describe('labelOf', () => {
  it('by default tells computers from phones and tablets', async () => {
    const ofApple = (system: string) => `Mozilla/5.0 (${system}) Version/17.5 Mobile/15E148 Safari/604.1`
    const agents = [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36',
      ofApple('iPhone; CPU iPhone OS 17_5 like Mac OS X'),
      ofApple('iPad; CPU OS 16_6 like Mac OS X'),
      'curl/8.5.0',
      null,
    ]
    const clients = agents.map((userAgent) => ({ userAgent, ip: null, device: null, label: null }))
    const labels = await labelsOf({ limits: {}, deadlineMs: 60_000 }, clients)
    expect(labels).toEqual(['desktop', 'mobile', 'mobile', undefined, undefined])
  })

  it('gets the client alone: no token, no user', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    const asked: unknown[] = []
    const labelOf = (client: object) => void asked.push(client)
    const labels = { limits: { d: 1 }, labelOf, deadlineMs: 60_000 }
    const { login } = createLimiterWorld({ labels, settings: { maximum: 9 } })
    const first = { userAgent: 'agent', ip: '192.0.2.1', device: 'device' }
    await login(7, first)
    await login(7)
    expect(asked).toEqual([first, { userAgent: null, ip: null, device: null }, first])
  })

  it('fails the login when it fails, hangs, or returns anything but a string', async () => {
    for (const [answer, code, message] of [
      [() => Promise.reject(new Error('broken')), 'hook_failed', /"labelOf" failed: broken/],
      [() => 7, 'hook_failed', /must return a string or undefined; it returned 7/],
      [() => new Promise(() => {}), 'hook_timeout', /"labelOf" did not respond within 5 ms/],
    ] as const) {
      const labels = { limits: { d: 1 }, labelOf: answer as never, deadlineMs: 5 }
      const { login, host } = createLimiterWorld({ labels })
      await expect(login(7)).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
      expect(host.ids.size).toBe(0)
    }
  })

  it('fails the login when the function of its limit fails, or returns no number', async () => {
    for (const [limits, message] of [
      [() => Promise.resolve(2), '"limits" failed: it must return a whole number'],
      [() => 0, 'or undefined; it returned 0'],
      [
        () => {
          throw new Error('broken')
        },
        '"limits" failed: broken',
      ],
    ] as const) {
      const labels = { ...BY_AGENT, limits: limits as never }
      const { login, host } = createLimiterWorld({ labels })
      const refused = { code: 'hook_failed', message: expect.stringContaining(message) }
      await expect(login(7, { userAgent: 'd' })).rejects.toMatchObject(refused)
      expect(host.ids.size).toBe(0)
    }
  })
})
