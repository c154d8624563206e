import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { createLimiterWorld, type LimiterWorld } from '../../support/limiter-world.ts'

const ASK = { settings: { maximum: 2, logic: 'ask' } }

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

/** The refusals that are told, and the ends with their kinds. */
function listen({ limiter }: LimiterWorld) {
  const [refusals, ends]: [unknown[], unknown[]] = [[], []]
  limiter.hooks.addAction('sessmgr_login_refused', 'test', (_, refusal) => void refusals.push(refusal))
  limiter.hooks.addAction('sessmgr_session_ended', 'test', ({ token }, { kind }) => void ends.push([token, kind]))
  return { refusals, ends }
}

describe('a login in mode ask', () => {
  it('takes chosen sessions for freed, as many as a lowered maximum takes, and ends them as chosen', async () => {
    const world = createLimiterWorld({ settings: { maximum: 4, logic: 'ask' } })
    const { ends } = listen(world)
    const [first = '', second = '', ...kept] = await signedIn(world, 4)
    await world.limiter.settings.update({ maximum: 3 })
    expect(await ask(world, [tokenOf(first)])).toMatchObject({ admitted: false, choice: { need: 2 } })
    expect(await world.live(7)).toEqual([first, second, ...kept])
    const session = await world.login(7, chosen(second, first))
    expect(await world.live(7)).toEqual([...kept, session])
    await world.limiter.close()
    expect(ends).toEqual([first, second].map((id) => [tokenOf(id), 'chosen']))
    expect(await world.limiter.causeOf(tokenOf(second), 'ended')).toMatchObject({ kind: 'chosen' })
  })

  it('takes no chosen session for freed that the session store has lost', async () => {
    const world = createLimiterWorld(ASK)
    const [lost = '', kept] = await signedIn(world, 2)
    world.host.ids.delete(lost)
    const session = await world.login(7, chosen(lost))
    expect(await world.live(7)).toEqual([kept, session])
  })
})

describe('sessions that the user chose to end', () => {
  it('end with a login that is admitted anyway: below the limit in every mode, and under bypass', async () => {
    for (const logic of ['allow', 'logout_oldest', 'block', 'ask']) {
      for (const maximum of [2, 5]) {
        const world = createLimiterWorld({ settings: { maximum, logic } })
        const [first = '', second] = await signedIn(world, 2)
        if (maximum === 2) world.limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
        const session = await world.login(7, chosen(first))
        expect(await world.live(7), `${logic}, maximum ${maximum}`).toEqual([second, session])
      }
    }
  })

  it('free no place in mode block, and stay', async () => {
    const world = createLimiterWorld({ settings: { maximum: 2, logic: 'block' } })
    const ids = await signedIn(world, 2)
    expect(await world.login(7, chosen(...ids))).toBeUndefined()
    expect(await world.live(7)).toEqual(ids)
  })

  it('end as chosen in mode logout_oldest, and the oldest end beside them', async () => {
    const world = createLimiterWorld({ settings: { maximum: 3, logic: 'logout_oldest' } })
    const { ends } = listen(world)
    const [oldest = '', middle, youngest = ''] = await signedIn(world, 3)
    const session = await world.login(7, chosen(youngest))
    expect(await world.live(7)).toEqual([middle, session])
    await world.limiter.close()
    expect(ends).toEqual([
      [tokenOf(oldest), 'displaced'],
      [tokenOf(youngest), 'chosen'],
    ])
  })
})
