import { describe, expect, it } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { readerTexts } from '../../../src/texts/texts-for.ts'
import { createLimiterWorld, type LimiterWorld } from '../../support/limiter-world.ts'

const ASK = { settings: { maximum: 2, logic: 'ask' } }
const MODES = ['allow', 'logout_oldest', 'block', 'ask']

/** Logs user 7 in as often as told, and returns the raw ids. */
async function signedIn({ login }: LimiterWorld, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let made = 0; made < count; made++) ids.push(String(await login(7)))
  return ids
}

const chosen = (...ids: readonly string[]) => ({ ends: ids.map(tokenOf), canAsk: true })

function ask({ limiter, host }: LimiterWorld, ends: readonly string[] = []) {
  return limiter.admit({ userId: 7, ends, canAsk: true }, async () => host.establish())
}

describe('a login in mode ask', () => {
  it('is admitted below the limit', async () => {
    const world = createLimiterWorld(ASK)
    const ids = await signedIn(world, 2)
    expect(await world.live(7)).toEqual(ids)
  })

  it('offers the live sessions at the limit, and changes nothing', async () => {
    const world = createLimiterWorld(ASK)
    const refusals: unknown[] = []
    world.limiter.hooks.addAction('sessmgr_login_refused', 'test', (...refusal) => void refusals.push(refusal))
    const ids = await signedIn(world, 2)
    const admission = await ask(world)
    expect(admission).toMatchObject({ admitted: false, choice: { need: 1, maximum: 2 } })
    const { sessions = [] } = (!admission.admitted && admission.choice) || {}
    expect(sessions.map(({ token }) => token)).toEqual(ids.map(tokenOf))
    expect(await world.live(7)).toEqual(ids)
    expect([...world.host.ids]).toEqual(ids)
    await world.limiter.close()
    expect(refusals).toEqual([[7, { mode: 'ask', maximum: 2, live: 2, asked: true }]])
    expect([world.fired, world.logged]).toEqual([[], []])
  })

  it('asks for as many as a lowered maximum takes', async () => {
    const world = createLimiterWorld({ settings: { maximum: 4, logic: 'ask' } })
    const [first = '', second = '', ...kept] = await signedIn(world, 4)
    await world.limiter.settings.update({ maximum: 3 })
    expect(await ask(world, [tokenOf(first)])).toMatchObject({ admitted: false, choice: { need: 2 } })
    expect(await world.live(7)).toEqual([first, second, ...kept])
    const session = await world.login(7, chosen(second, first))
    expect(await world.live(7)).toEqual([...kept, session])
  })

  it('takes a chosen session for freed, and ends it in the same step, as chosen', async () => {
    const world = createLimiterWorld(ASK)
    const [first = '', second = ''] = await signedIn(world, 2)
    const ends: unknown[] = []
    world.limiter.hooks.addAction(
      'sessmgr_session_ended',
      'test',
      ({ token }, { kind }) => void ends.push([token, kind]),
    )
    const session = await world.login(7, chosen(second))
    expect(await world.live(7)).toEqual([first, session])
    await world.limiter.close()
    expect(ends).toEqual([[tokenOf(second), 'chosen']])
    expect(await world.limiter.causeOf(tokenOf(second), 'ended')).toMatchObject({ kind: 'chosen' })
    expect(world.fired).toEqual([])
  })

  it('gets nothing for names that end nothing', async () => {
    const world = createLimiterWorld(ASK)
    const ids = await signedIn(world, 2)
    const foreign = String(await world.login(8))
    await world.limiter.sessions.end(7, tokenOf(ids[0] ?? ''))
    ids.push(String(await world.login(7)))
    const names = [tokenOf(foreign), tokenOf('nobody'), tokenOf(ids[0] ?? ''), '', 'x'.repeat(5000), ids[1] ?? '']
    expect(await ask(world, names)).toMatchObject({ admitted: false, choice: { need: 1 } })
    expect(await world.live(7)).toEqual(ids.slice(1))
    expect(await world.live(8)).toEqual([foreign])
  })

  it('counts a session once, however often it is named', async () => {
    const world = createLimiterWorld({ settings: { maximum: 2, logic: 'allow' } })
    const [first = ''] = await signedIn(world, 2)
    await world.limiter.settings.update({ maximum: 1, logic: 'ask' })
    const names = Array<string>(3).fill(tokenOf(first))
    expect(await ask(world, names)).toMatchObject({ admitted: false, choice: { need: 2 } })
  })

  it('gets nothing for a session that a site-wide logout has ended, or that the session store has lost', async () => {
    const world = createLimiterWorld(ASK)
    const [stale = ''] = await signedIn(world, 1)
    await world.limiter.sessions.logoutAllUsers()
    const ids = await signedIn(world, 2)
    expect(await ask(world, [tokenOf(stale)])).toMatchObject({ admitted: false, choice: { need: 1 } })
    world.host.ids.delete(ids[0] ?? '')
    const session = await world.login(7, chosen(ids[0] ?? ''))
    expect(await world.live(7)).toEqual([ids[1], session])
  })

  it('lets one of two logins have the place that both chose', async () => {
    const store = memoryStore()
    const first = createLimiterWorld({ ...ASK, store })
    const second = createLimiterWorld({ ...ASK, store, host: first.host })
    const [given = '', kept = ''] = await signedIn(first, 2)
    const admissions = await Promise.all([first, second].map((world) => ask(world, [tokenOf(given)])))
    expect(admissions.map(({ admitted }) => admitted).sort()).toEqual([false, true])
    expect(admissions.find(({ admitted }) => !admitted)).toMatchObject({ choice: { need: 1 } })
    const live = await first.limiter.sessions.list(7)
    expect(live).toHaveLength(2)
    expect(live[0]?.token).toBe(tokenOf(kept))
    expect(first.host.ids.size).toBe(2)
  })

  it('acts as block where nobody can be asked, and says so once', async () => {
    const world = createLimiterWorld(ASK)
    const refusals: unknown[] = []
    world.limiter.hooks.addAction('sessmgr_login_refused', 'test', (_, refusal) => void refusals.push(refusal))
    await signedIn(world, 2)
    const texts = () => readerTexts({ login_blocked: 'Blocked.' })
    const establish = () => Promise.reject(new SessmgrError('hook_failed', 'must not be called'))
    for (const canAsk of [undefined, false]) {
      const admission = await world.limiter.admit({ userId: 7, canAsk, texts }, establish)
      expect(admission).toEqual({ admitted: false, message: 'Blocked.' })
    }
    await world.limiter.close()
    expect(world.fired).toEqual([
      ['sessmgr_login_blocked', 7],
      ['sessmgr_login_blocked', 7],
    ])
    expect(refusals).toEqual(Array(2).fill({ mode: 'ask', maximum: 2, live: 2, asked: false }))
    expect(world.logged).toEqual([[expect.stringContaining('Mount limiter.choice().')]])
  })
})

describe('sessions that the user chose to end', () => {
  it.each(MODES)('end with an admitted login below the limit in mode %s', async (logic) => {
    const world = createLimiterWorld({ settings: { maximum: 5, logic } })
    const [first = '', second] = await signedIn(world, 2)
    const session = await world.login(7, chosen(first))
    expect(await world.live(7)).toEqual([second, session])
  })

  it('end under bypass too', async () => {
    const world = createLimiterWorld(ASK)
    const [first = '', second] = await signedIn(world, 2)
    world.limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
    const session = await world.login(7, chosen(first))
    expect(await world.live(7)).toEqual([second, session])
  })

  it('free no place in mode block, and stay', async () => {
    const world = createLimiterWorld({ settings: { maximum: 2, logic: 'block' } })
    const ids = await signedIn(world, 2)
    expect(await world.login(7, chosen(...ids))).toBeUndefined()
    expect(await world.live(7)).toEqual(ids)
  })

  it('end as chosen in mode logout_oldest, and the oldest end beside them', async () => {
    const world = createLimiterWorld({ settings: { maximum: 3, logic: 'logout_oldest' } })
    const [oldest = '', middle, youngest = ''] = await signedIn(world, 3)
    const ends: unknown[] = []
    world.limiter.hooks.addAction(
      'sessmgr_session_ended',
      'test',
      ({ token }, { kind }) => void ends.push([token, kind]),
    )
    const session = await world.login(7, chosen(youngest))
    expect(await world.live(7)).toEqual([middle, session])
    await world.limiter.close()
    expect(ends).toEqual([
      [tokenOf(oldest), 'displaced'],
      [tokenOf(youngest), 'chosen'],
    ])
  })
})
