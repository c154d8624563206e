import { describe, expect, it } from 'vitest'
import { evaluateLogin } from '../../../../src/limiter/decision/evaluate-login.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { createLimiterContext } from '../../../support/limiter-context.ts'

/** What a verdict comes to: admitted or not, which sessions end, and what fires. */
async function verdict(world: ReturnType<typeof createLimiterContext>, ignore: string[] = []) {
  const { decision, lost } = await evaluateLogin(world.context, { userId: 7 }, ignore.map(tokenOf))
  const actions = decision.actions.map(([name]) => name)
  return { admit: decision.admit, end: decision.end.map(({ token }) => token), actions, lost }
}

const admitted = { admit: true, end: [], actions: [], lost: [] }
const refused = { ...admitted, admit: false, actions: ['sessmgr_login_blocked'] }

describe('the filters of a login', () => {
  it('rule 12: fail it closed when they answer anything but true or false', async () => {
    for (const hook of ['sessmgr_bypass', 'sessmgr_reached_limit'] as const) {
      for (const answer of [0, 1, '', 'no', null, {}]) {
        const world = createLimiterContext()
        world.hooks.addFilter(hook, 'careless', () => answer as boolean)
        const message = expect.stringContaining(`"${hook}" filter must return true or false`)
        await expect(verdict(world)).rejects.toMatchObject({ code: 'hook_failed', message })
      }
    }
  })

  it('rules 4 and 51: take what sessmgr_maximum says for the limit and for the room to make, and ask it once', async () => {
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
      expect((await verdict(world)).end, `maximum ${own}`).toEqual(sessions.slice(0, ended).map(tokenOf))
      expect(asked).toEqual([[2, 7]])
    }
  })

  it('rule 51: ask the function that the application gives in place of a number, unless one is stored', async () => {
    const asked: unknown[] = []
    const maximum = async (userId: string | number) => {
      asked.push(userId)
      return userId === 7 ? 1 : 5
    }
    const world = createLimiterContext({ maximum, logic: 'block' })
    const { settings } = world.context
    await world.register(7)
    expect(await verdict(world)).toEqual(refused)
    expect([await settings.maximumOf(8), (await settings.get()).maximum]).toEqual([5, 1])
    world.hooks.addFilter('sessmgr_maximum', 'ns', (own) => own + 1)
    expect(await verdict(world)).toEqual(admitted)
    expect(asked).toEqual([7, 8, 7])
    await settings.update({ maximum: 2 })
    expect(await settings.maximumOf(7)).toBe(3)
    await settings.reset('maximum')
    expect(await settings.maximumOf(7)).toBe(2)
  })

  it('rule 12: fail it closed when function or filter give no whole number from 1 on', async () => {
    for (const answer of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', null, undefined, true]) {
      const world = createLimiterContext({ maximum: () => answer as number })
      const message = expect.stringContaining('"settings.maximum" to "sessmgr_maximum" failed: it must return a whole')
      await expect(verdict(world), String(answer)).rejects.toMatchObject({ code: 'hook_failed', message })
      if (answer === undefined) continue
      const filtered = createLimiterContext()
      filtered.hooks.addFilter('sessmgr_maximum', 'careless', () => answer as number)
      const error = { code: 'hook_failed', message: expect.stringContaining('must return a whole number, 1 or more') }
      await expect(verdict(filtered), String(answer)).rejects.toMatchObject(error)
    }
  })
})
