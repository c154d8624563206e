import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'

test.each([undefined, null, 'text', 7])(
  'a call that is about a request rejects for %j, and says what to write',
  async (given) => {
    const limiter = sessmgr()
    onTestFinished(() => limiter.close())
    const request = given as never
    const calls = {
      'limiter.login(request, user)': () => limiter.login(request, { id: 2 }),
      'limiter.logout(request)': () => limiter.logout(request),
      'limiter.nonce(request)': () => limiter.nonce(request),
    }
    for (const [call, run] of Object.entries(calls)) {
      const error = { code: 'invalid_option', status: 500, message: expect.stringContaining(`: write ${call}`) }
      await expect(run()).rejects.toMatchObject(error)
    }
  },
)
