import { expect, it } from 'vitest'
import { createLimiterWorld } from '../../../support/limiter-world.ts'

it('a login is registered with the beginning of an address and of a device that are too long', async () => {
  const { login, limiter } = createLimiterWorld({ settings: { maximum: 1 } })
  await login(7, { ip: '192.0.2.7'.padEnd(200, '0'), userAgent: 'x'.repeat(2000) })
  expect(await limiter.sessions.list(7)).toMatchObject([
    { ip: expect.stringMatching(/^192\.0\.2\.70{1,90}$/), userAgent: expect.stringMatching(/^x{100,1000}$/) },
  ])
})

it('a login is decided in the mode as it is, although another one was in force when the limiter last looked', async () => {
  const { login, live, limiter } = createLimiterWorld({ settings: { maximum: 1 } })
  const first = await login(7)
  await limiter.settings.update({ logic: 'block' })
  expect(await login(7)).toBeUndefined()
  expect(await live(7)).toEqual([first])
})
