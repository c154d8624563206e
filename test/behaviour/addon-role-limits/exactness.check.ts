import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { product } from '../../../examples/addon-role-limits/product.ts'
import type { Sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { createExample } from '../../support/example-app.ts'
import { listen } from '../../support/listen.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'
import { demoVendorFile, startRoleLimits } from './role-limits-host.ts'

const LOGINS = 20
const LIMIT = 3
const CAROL = 4
const MODES = ['logout_oldest', 'block', 'allow'] as const
/** The site's own maximum, on either side of the limit of the role. */
const SITES = [1, 10]

/** Logs carol in at all origins in turn, all at once; gives the statuses and how many browsers are signed in afterwards. */
async function race(origins: readonly string[]) {
  const browsers = Array.from({ length: LOGINS }, (_, index) => new Browser(origins[index % origins.length] ?? ''))
  const form = { username: 'carol', password: 'carol-password' }
  const answers = await Promise.all(
    browsers.map((browser) => browser.post('/login', form, { accept: 'application/json' })),
  )
  const seen = await Promise.all(browsers.map((browser) => browser.me()))
  const admitted = answers.filter(({ status }) => status === 200).length
  const refused = answers.filter(({ status }) => status === 403).length
  return { admitted, refused, signedIn: seen.filter((status) => status === 200).length }
}

async function expectExact(limiter: Sessmgr, logic: (typeof MODES)[number], result: Awaited<ReturnType<typeof race>>) {
  const admitted = logic === 'block' ? LIMIT : LOGINS
  expect(result).toMatchObject({ admitted, refused: LOGINS - admitted })
  expect(await limiter.sessions.count(CAROL)).toBe(result.signedIn)
  expect(result.signedIn).toBeLessThanOrEqual(LIMIT)
  // Whenever the limit is reached, the mode allow begins again with one session.
  expect(result.signedIn).toBeGreaterThanOrEqual(logic === 'allow' ? 1 : LIMIT)
}

describe.each(SITES)('rule 5: with a maximum of %i, and 3 for the role', (maximum) => {
  test.each(MODES)('parallel logins leave exactly 3 in mode %s', async (logic) => {
    const host = await startRoleLimits({ settings: { maximum, logic } })
    await host.setLimits({ roles: { editor: LIMIT } })
    await expectExact(host.limiter, logic, await race([host.origin]))
  })
})

describe('rule 5: over two instances on one Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.stop())

  test.each(MODES)('parallel logins leave exactly 3 in mode %s', async (logic) => {
    const { vendor, file, remove } = demoVendorFile()
    onTestFinished(remove)
    const env = { ADDON_ROLE_LIMITS: file, REDIS_URL: redis.url }
    const [one, two] = [await createExample(env), await createExample(env)]
    onTestFinished(() => one.close())
    onTestFinished(() => two.close())
    const origins = [await listen(one.app), await listen(two.app)]
    await one.limiter.sessions.endAll(CAROL)
    await one.limiter.settings.update({ maximum: 1, logic })
    await one.limiter.addons.activate(product.id, await vendor.issue(product.id))
    await one.limiter.options.get('role_limits')?.update({ roles: { editor: LIMIT } })
    await expectExact(two.limiter, logic, await race(origins))
  })
})
