import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../../src/sessions/token.ts'
import { createLimiterWorld } from '../../../support/limiter-world.ts'

const wide = { settings: { maximum: 10 } }

describe('ending all sessions of a user but one', () => {
  it('ends them in both stores, counts them, and fires sessmgr_destroy_session for each, oldest first', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld(wide)
    const [first, kept, last] = [String(await login(7)), String(await login(7)), String(await login(7))]
    const other = String(await login(8))
    expect(await limiter.sessions.endOthers('7', tokenOf(kept))).toBe(2)
    expect([...host.ids]).toEqual([kept, other])
    expect(await live(7)).toEqual([kept])
    expect(fired).toEqual([
      ['sessmgr_destroy_session', 7, tokenOf(first)],
      ['sessmgr_destroy_session', 7, tokenOf(last)],
    ])
  })

  it('ends none where there is no other', async () => {
    const { limiter, fired, login } = createLimiterWorld(wide)
    const kept = String(await login(7))
    expect(await limiter.sessions.endOthers(7, tokenOf(kept))).toBe(0)
    expect(fired).toEqual([])
  })

  it('is refused when the one to keep is no live session of the user, and ends nothing then', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const [own, other] = [String(await login(7)), String(await login(8))]
    const strange = [tokenOf(other), tokenOf('unknown'), own, '', undefined, { token: tokenOf(own) }, [tokenOf(own)]]
    for (const token of strange) {
      await expect(limiter.sessions.endOthers(7, token as string)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/nothing was ended.*request\.sessmgr\.session\.token.*call endAll\(\)/),
      })
    }
    await expect(limiter.sessions.endOthers('nobody', tokenOf(own))).rejects.toMatchObject({ code: 'invalid_option' })
    expect([await live(7), await live(8), fired]).toEqual([[own], [other], []])
  })

  it('is refused for what is no id of a user', async () => {
    const { limiter } = createLimiterWorld(wide)
    const user = { id: 7 } as never
    await expect(limiter.sessions.endOthers(user, tokenOf('a'))).rejects.toMatchObject({ code: 'user_id_missing' })
  })
})
