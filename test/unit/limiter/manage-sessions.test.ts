import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

const wide = { settings: { maximum: 10 } }

describe('listing sessions', () => {
  it('refuses a page that is none, and names the option that was meant', async () => {
    const list = (page: object) => createLimiterWorld().limiter.sessions.list(7, page)
    const message = expect.stringMatching(/^A page of sessions needs a "limit" of 1 or more.*"after"/)
    for (const page of [{ limit: 0 }, { limit: 1.5 }, { limit: '2' }, { after: -1 }, { after: null }]) {
      await expect(list(page), JSON.stringify(page)).rejects.toMatchObject({ code: 'invalid_option', message })
    }
    await expect(list({ label: 5 })).rejects.toThrow('"label" must be a string')
    await expect(list({ limt: 1 })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/"limt".*"limit"/),
    })
  })
})

describe('ending one session', () => {
  it('resolves false and fires nothing for a token that the user does not have, or only begins with', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const [own, other] = [String(await login(7)), String(await login(8))]
    const token = tokenOf(own)
    const almost = [token.slice(0, 63), `${token}0`, `${token}\n`, token.slice(0, 32)]
    for (const wrong of [...almost, tokenOf(other), 'nonsense', other]) {
      expect(await limiter.sessions.end(7, wrong), wrong).toBe(false)
    }
    expect(await limiter.sessions.end('nobody', token)).toBe(false)
    for (const keep of [...almost, [token] as unknown as string]) {
      await expect(limiter.sessions.endOthers(7, keep)).rejects.toMatchObject({ code: 'invalid_option' })
    }
    expect([await live(7), await live(8), fired]).toEqual([[own], [other], []])
  })

  it('refuses a missing token, and a session id in its place', async () => {
    const { limiter, login, live } = createLimiterWorld(wide)
    const id = String(await login(7))
    const message = expect.stringMatching(/^end\(\) needs a token, .* not a session id\./)
    for (const mistaken of [undefined, id]) {
      const ending = limiter.sessions.end(7, mistaken as string)
      await expect(ending).rejects.toMatchObject({ code: 'invalid_option', message })
    }
    expect(await live(7)).toEqual([id])
  })
})

describe('what is no id of a user', () => {
  it('is refused by every method, by its kind, for it would end nobody and say nothing', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const id = String(await login(7))
    const { list, count, end, endAll, endOthers } = limiter.sessions
    for (const given of [undefined, null, '', 1.5, Number.NaN, { id: '1' }, [7], true] as never[]) {
      const token = tokenOf(id)
      const calls = [list(given), count(given), end(given, token), endAll(given), endOthers(given, token)]
      const refusal = { code: 'user_id_missing', message: expect.stringMatching(/^Expected a user id /) }
      for (const call of calls) await expect(call, JSON.stringify(given)).rejects.toMatchObject(refusal)
    }
    await expect(endAll({ password: 'hunter2' } as never)).rejects.toThrow(', got an object.')
    expect([await live(7), fired]).toEqual([[id], []])
  })

  it('or no session to keep, is refused, and nobody is logged out', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const id = String(await login(7))
    const wrong = [{}, 'token', { userId: 7 }, { userId: {}, token: 'x' }, { userId: 7, token: '' }, { token: 'x' }]
    for (const keep of wrong) {
      const refusal = { code: 'invalid_option', message: expect.stringMatching(/^"keep"/) }
      await expect(limiter.sessions.logoutAllUsers(keep as never)).rejects.toMatchObject(refusal)
    }
    expect([await live(7), fired]).toEqual([[id], []])
  })
})

it('checking finds a registered session live, and others over: unknown, ended, released, expired, or of another user', async () => {
  const { limiter, clock, login } = createLimiterWorld(wide)
  const ids = [await login(7), await login(7), await login(7), await login(7, {}, 1000)].map(String)
  const [live = '', ended = '', released = '', expired = ''] = ids.map(tokenOf)
  await limiter.sessions.end(7, ended)
  await limiter.release(7, released)
  clock.advance(1000)
  expect(await limiter.check(7, live)).toMatchObject({ live: true })
  for (const token of [tokenOf('unknown'), ended, released, expired]) {
    expect(await limiter.check(7, token)).toEqual({ live: false, reason: 'ended' })
  }
  expect(await limiter.check(8, live)).toEqual({ live: false, reason: 'ended' })
})
