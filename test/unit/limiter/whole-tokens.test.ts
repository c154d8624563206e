import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

describe('what only begins with the token of a session', () => {
  it.each<[string, (token: string) => unknown]>([
    ['cut off', (token) => token.slice(0, 63)],
    ['with more at its end', (token) => `${token}0`],
    ['with a line feed', (token) => `${token}\n`],
    ['half', (token) => token.slice(0, 32)],
  ])('ends nothing and keeps nothing: %s', async (_what, alter) => {
    const { limiter, fired, login, live } = createLimiterWorld({ settings: { maximum: 9 } })
    const ids = [String(await login(7)), String(await login(7))]
    const altered = alter(tokenOf(String(ids[0]))) as string
    expect(await limiter.sessions.end(7, altered)).toBe(false)
    await expect(limiter.sessions.endOthers(7, altered)).rejects.toMatchObject({ code: 'invalid_option' })
    expect([await live(7), fired]).toEqual([ids, []])
  })

  it('keeps nothing as a list of one token', async () => {
    const { limiter, fired, login, live } = createLimiterWorld({ settings: { maximum: 9 } })
    const ids = [String(await login(7)), String(await login(7))]
    const list = [tokenOf(String(ids[0]))] as unknown as string
    await expect(limiter.sessions.endOthers(7, list)).rejects.toMatchObject({ code: 'invalid_option' })
    expect([await live(7), fired]).toEqual([ids, []])
  })

  it('is told from the token itself, which ends its session', async () => {
    const { limiter, login, live } = createLimiterWorld({ settings: { maximum: 9 } })
    const [first, last] = [String(await login(7)), String(await login(7))]
    expect(await limiter.sessions.end(7, tokenOf(first))).toBe(true)
    expect(await live(7)).toEqual([last])
  })
})
