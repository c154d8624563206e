import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'

const DAY = 24 * 60 * 60_000

function createLimiter() {
  const limiter = sessmgr()
  onTestFinished(() => limiter.close())
  return limiter
}

test('rule 66: a session may last 14 days with "remember me", and otherwise 2', async () => {
  const limiter = createLimiter()
  expect(await limiter.sessionLife({ id: 2 }, { remember: true })).toBe(14 * DAY)
  expect(await limiter.sessionLife({ id: 2 }, { remember: false })).toBe(2 * DAY)
  expect(await limiter.sessionLife('alice')).toBe(2 * DAY)
})

test('rule 66: auth_cookie_expiration changes how many seconds that is, for a user', async () => {
  const limiter = createLimiter()
  limiter.hooks.addFilter('auth_cookie_expiration', 'app', (seconds, userId, remember) =>
    userId === 2 && remember ? 3600.0004 : seconds + 1,
  )
  expect(await limiter.sessionLife({ id: 2 }, { remember: true })).toBe(3_600_000)
  expect(await limiter.sessionLife(2)).toBe(2 * DAY + 1000)
})

test('a filter may end sessions at once, and fails with a clear error when it returns no number of seconds', async () => {
  const limiter = createLimiter()
  let seconds: unknown = 0
  limiter.hooks.addFilter('auth_cookie_expiration', 'app', () => seconds as number)
  expect(await limiter.sessionLife(2)).toBe(0)
  for (seconds of [Number.NaN, Number.POSITIVE_INFINITY, 1e15, '3600', null]) {
    const words = '"auth_cookie_expiration" filter must return a number of seconds; it returned'
    const error = { code: 'hook_failed', message: expect.stringContaining(words) }
    await expect(limiter.sessionLife(2), String(seconds)).rejects.toMatchObject(error)
  }
})

test('a wrong call is refused', async () => {
  for (const [code, user, options] of [
    ['user_id_missing', undefined, {}],
    ['user_id_missing', { name: 'alice' }, {}],
    ['invalid_option', 2, { remember: 'on' }],
    ['invalid_option', 2, { rememberMe: true }],
    ['invalid_option', 2, true],
  ] as const) {
    await expect(createLimiter().sessionLife(user, options as never)).rejects.toMatchObject({ code })
  }
})
