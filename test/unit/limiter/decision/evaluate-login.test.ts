import { describe, expect, it } from 'vitest'
import { evaluateLogin } from '../../../../src/limiter/decision/evaluate-login.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { createLimiterContext } from '../../../support/limiter-context.ts'
import { recordActions } from '../../../support/record-actions.ts'

/** What a verdict comes to: admitted or not, which sessions end, and what fires. */
async function verdict(world: ReturnType<typeof createLimiterContext>, ignore: string[] = []) {
  const { decision, lost } = await evaluateLogin(world.context, { userId: 7 }, ignore.map(tokenOf))
  return {
    admit: decision.admit,
    end: decision.end.map(({ token }) => token),
    actions: decision.actions.map(([name]) => name),
    lost,
  }
}

const admitted = { admit: true, end: [], actions: [], lost: [] }

describe('evaluating a login', () => {
  it('admits below the limit and ends nothing', async () => {
    const world = createLimiterContext({ maximum: 2, logic: 'block' })
    await world.register(7)
    expect(await verdict(world)).toEqual(admitted)
  })

  it('reaches the limit when the sessions before the login are as many as the maximum', async () => {
    const world = createLimiterContext({ maximum: 2, logic: 'block' })
    await world.register(7)
    await world.register(7)
    expect(await verdict(world)).toEqual({ ...admitted, admit: false, actions: ['sessmgr_login_blocked'] })
  })

  it('lets the mode decide on the live sessions, oldest first', async () => {
    const world = createLimiterContext({ maximum: 2, logic: 'logout_oldest' })
    const [first] = [await world.register(7), await world.register(7)]
    expect(await verdict(world)).toEqual({
      ...admitted,
      end: [tokenOf(String(first))],
      actions: ['sessmgr_destroy_oldest_session'],
    })
  })

  it('does not count the sessions of others', async () => {
    const world = createLimiterContext({ logic: 'block' })
    await world.register(8)
    expect(await verdict(world)).toEqual(admitted)
  })

  it('rule 6: does not count a session that a site-wide logout has made stale', async () => {
    const world = createLimiterContext({ logic: 'block' })
    await world.register(7)
    const logout = await world.store.epoch.advance()
    expect(await verdict(world)).toEqual(admitted)
    await world.register(7, logout?.generation)
    expect((await verdict(world)).admit).toBe(false)
  })

  it('rule 6: does not count a session that the session store has lost, and names it', async () => {
    const world = createLimiterContext({ logic: 'block' })
    const lost = await world.register(7)
    world.host.ids.delete(lost)
    expect(await verdict(world)).toEqual({ ...admitted, lost: [tokenOf(lost)] })
  })

  it('rule 6: spares the oldest live session for the sake of a lost one', async () => {
    const world = createLimiterContext({ maximum: 2, logic: 'logout_oldest' })
    const [lost] = [await world.register(7), await world.register(7)]
    world.host.ids.delete(String(lost))
    expect(await verdict(world)).toEqual({ ...admitted, lost: [tokenOf(String(lost))] })
  })

  it('rule 7: does not count the session that the login replaces', async () => {
    const world = createLimiterContext({ logic: 'block' })
    const own = await world.register(7)
    expect(await verdict(world, [own])).toEqual(admitted)
  })

  it('takes allow when the stored logic is one that no mode has', async () => {
    const world = createLimiterContext()
    await world.store.options.set('sessmgr_settings', { maximum: 1, logic: 'of an add-on that is gone' })
    const old = await world.register(7)
    expect(await verdict(world)).toEqual({
      ...admitted,
      end: [tokenOf(old)],
      actions: ['sessmgr_destroy_all_sessions'],
    })
  })

  it('rule 6: asks the session store nothing below the limit', async () => {
    const world = createLimiterContext({ maximum: 2, logic: 'block' })
    await world.register(7)
    world.host.exists = () => Promise.reject(new Error('It was asked'))
    expect(await verdict(world)).toEqual(admitted)
  })

  it('changes nothing', async () => {
    const world = createLimiterContext()
    const fired = recordActions(world.hooks)
    const old = await world.register(7)
    const read = await world.store.sessions.read(7)
    await verdict(world)
    expect(await world.store.sessions.read(7)).toEqual({ ...read, now: expect.any(Number) })
    expect(world.host.ids).toContain(old)
    expect(fired).toEqual([])
  })
})

describe('the filters of a login', () => {
  it('rule 9: asks sessmgr_bypass first, and when it says yes nothing else', async () => {
    const world = createLimiterContext({ logic: 'block' })
    const asked: unknown[] = []
    await world.register(7)
    world.hooks.addFilter('sessmgr_bypass', 'ns', (bypass, userId) => {
      asked.push([bypass, userId])
      return true
    })
    expect(await verdict(world)).toEqual(admitted)
    expect(asked).toEqual([[false, 7]])
    expect(world.hooks.didFilter('sessmgr_reached_limit')).toBe(0)
  })

  it('rule 9: gives sessmgr_reached_limit the built-in verdict, the user and the count', async () => {
    const world = createLimiterContext({ maximum: 2 })
    const asked: unknown[] = []
    world.hooks.addFilter('sessmgr_reached_limit', 'ns', (...asks) => {
      asked.push(asks)
      return asks[0]
    })
    await verdict(world)
    await world.register(7)
    await world.register(7)
    await verdict(world)
    expect(asked).toEqual([
      [false, 7, 0],
      [true, 7, 2],
    ])
  })

  it('rule 6: tells the filter the count of those that the session store still holds', async () => {
    const world = createLimiterContext({ maximum: 2, logic: 'block' })
    const counts: number[] = []
    world.hooks.addFilter('sessmgr_reached_limit', 'ns', (reached, _, count) => {
      counts.push(count)
      return reached
    })
    world.host.ids.delete(await world.register(7))
    await world.register(7)
    expect((await verdict(world)).admit).toBe(true)
    expect(counts).toEqual([1])
  })

  it('rule 9: lets the override with the highest priority win', async () => {
    const world = createLimiterContext({ maximum: 5, logic: 'block' })
    world.hooks.addFilter('sessmgr_reached_limit', 'by-role', () => true, 10)
    world.hooks.addFilter('sessmgr_reached_limit', 'by-user', () => false, 11)
    expect((await verdict(world)).admit).toBe(true)
    world.hooks.addFilter('sessmgr_reached_limit', 'wins', () => true, 12)
    expect((await verdict(world)).admit).toBe(false)
  })

  it.each([
    ['block', { ...admitted, admit: false, actions: ['sessmgr_login_blocked'] }],
    ['allow', { ...admitted, actions: ['sessmgr_destroy_all_sessions'] }],
    ['logout_oldest', admitted],
  ])('rule 10: forced to reached without an old session, %s does what it can', async (logic, expected) => {
    const world = createLimiterContext({ logic })
    world.hooks.addFilter('sessmgr_reached_limit', 'ns', () => true)
    expect(await verdict(world)).toEqual(expected)
  })

  it('rule 10: forced to not reached, admits over the limit', async () => {
    const world = createLimiterContext({ logic: 'block' })
    await world.register(7)
    world.hooks.addFilter('sessmgr_reached_limit', 'ns', () => false)
    expect(await verdict(world)).toEqual(admitted)
  })

  it.each(['sessmgr_bypass', 'sessmgr_reached_limit'] as const)('rule 12: fails closed when %s fails', async (hook) => {
    const world = createLimiterContext()
    world.hooks.addFilter(hook, 'broken', () => {
      throw new Error('broken')
    })
    await expect(verdict(world)).rejects.toMatchObject({ code: 'hook_failed' })
  })

  it.each(['sessmgr_bypass', 'sessmgr_reached_limit'] as const)(
    'rule 12: fails closed when %s answers anything but true or false',
    async (hook) => {
      for (const answer of [0, 1, '', 'no', null, {}]) {
        const world = createLimiterContext()
        world.hooks.addFilter(hook, 'careless', () => answer as boolean)
        const error = {
          code: 'hook_failed',
          message: expect.stringContaining(`"${hook}" filter must return true or false`),
        }
        await expect(verdict(world)).rejects.toMatchObject(error)
      }
    },
  )

  it('rule 4: gives the mode the maximum that sessmgr_maximum says, so that it makes room by that one', async () => {
    for (const [own, ended] of [
      [1, 3],
      [3, 1],
      [9, 0],
    ] as const) {
      const world = createLimiterContext({ maximum: 2, logic: 'logout_oldest' })
      const sessions = [await world.register(7), await world.register(7), await world.register(7)]
      const asked: unknown[] = []
      world.hooks.addFilter('sessmgr_maximum', 'ns', (...parameters) => {
        asked.push(parameters)
        return own
      })
      expect((await verdict(world)).end).toEqual(sessions.slice(0, ended).map(tokenOf))
      expect(asked).toEqual([[2, 7]])
    }
  })

  it('rule 51: takes what sessmgr_maximum returns for the limit too, and asks it once', async () => {
    const world = createLimiterContext({ maximum: 2, logic: 'block' })
    await world.register(7)
    world.hooks.addFilter('sessmgr_maximum', 'ns', (maximum, userId) => (userId === 7 ? 1 : maximum))
    expect((await verdict(world)).admit).toBe(false)
    expect(world.hooks.didFilter('sessmgr_maximum')).toBe(1)
    world.hooks.addFilter('sessmgr_maximum', 'more', () => 3)
    await world.register(7)
    expect(await verdict(world)).toEqual(admitted)
  })

  it('rule 51: asks the function that the application gives in place of a number', async () => {
    const asked: unknown[] = []
    const maximum = async (userId: string | number) => {
      asked.push(userId)
      return userId === 7 ? 1 : 5
    }
    const world = createLimiterContext({ maximum, logic: 'block' })
    await world.register(7)
    expect((await verdict(world)).admit).toBe(false)
    expect(await world.context.settings.maximumOf(8)).toBe(5)
    world.hooks.addFilter('sessmgr_maximum', 'ns', (own) => own + 1)
    expect(await verdict(world)).toEqual(admitted)
    expect(asked).toEqual([7, 8, 7])
  })

  it('rule 51: a stored number holds for everybody, until it is given back to the function', async () => {
    const world = createLimiterContext({ maximum: () => 4 })
    const { settings } = world.context
    expect([await settings.maximumOf(7), (await settings.get()).maximum]).toEqual([4, 1])
    await settings.update({ logic: 'block' })
    expect(await settings.maximumOf(7)).toBe(4)
    await settings.update({ maximum: 2 })
    expect(await settings.maximumOf(7)).toBe(2)
    await settings.reset('maximum')
    expect(await settings.maximumOf(7)).toBe(4)
  })

  it('rule 12: fails closed when the function fails, or returns no whole number from 1 on', async () => {
    for (const answer of [0, 1.5, Number.NaN, '3', null, undefined]) {
      const world = createLimiterContext({ maximum: () => answer as number })
      const message = expect.stringContaining('"settings.maximum" to "sessmgr_maximum" failed: it must return a whole')
      await expect(verdict(world)).rejects.toMatchObject({ code: 'hook_failed', message })
    }
  })

  it('rule 12: fails closed when sessmgr_maximum answers anything but a whole number from 1 on', async () => {
    for (const answer of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', null, true]) {
      const world = createLimiterContext()
      await world.register(7)
      world.hooks.addFilter('sessmgr_maximum', 'careless', () => answer as number)
      const error = { code: 'hook_failed', message: expect.stringContaining('must return a whole number, 1 or more') }
      await expect(verdict(world)).rejects.toMatchObject(error)
    }
  })

  it('rule 1: has no upper bound for the maximum below the largest safe integer', async () => {
    const world = createLimiterContext({ maximum: Number.MAX_SAFE_INTEGER, logic: 'block' })
    for (let count = 0; count < 50; count++) await world.register(7)
    expect(await verdict(world)).toEqual(admitted)
  })
})
