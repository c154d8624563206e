import { expect, onTestFinished, test } from 'vitest'
import { product } from '../../../examples/addon-role-limits/product.ts'
import { Browser } from '../../support/browser.ts'
import { createExample } from '../../support/example-app.ts'
import { listen } from '../../support/listen.ts'
import { startRedis } from '../../support/redis-server.ts'
import { demoVendorFile } from './role-limits-host.ts'

const LOGINS = 20
const LIMIT = 3
const CAROL = 4

test('rule 5: parallel logins over two instances leave exactly the 3 of the role, below and above the site', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const { vendor, file, remove } = demoVendorFile()
  onTestFinished(remove)
  const env = { ADDON_ROLE_LIMITS: file, REDIS_URL: redis.url }
  const [one, two] = [await createExample(env), await createExample(env)]
  for (const { close } of [one, two]) onTestFinished(close)
  const origins = [await listen(one.app), await listen(two.app)]
  await one.limiter.addons.activate(product.id, await vendor.issue(product.id))
  await one.limiter.options.get('role_limits')?.update({ roles: { editor: LIMIT } })
  for (const maximum of [1, 10]) {
    for (const logic of ['logout_oldest', 'block', 'allow'] as const) {
      await one.limiter.sessions.endAll(CAROL)
      await one.limiter.settings.update({ maximum, logic })
      const browsers = Array.from({ length: LOGINS }, (_, index) => new Browser(origins[index % 2] ?? ''))
      const form = { username: 'carol', password: 'carol-password' }
      const answers = await Promise.all(
        browsers.map((browser) => browser.post('/login', form, { accept: 'application/json' })),
      )
      const seen = await Promise.all(browsers.map((browser) => browser.me()))
      const [admitted, refused] = [200, 403].map((code) => answers.filter(({ status }) => status === code).length)
      const signedIn = seen.filter((status) => status === 200).length
      const expected = logic === 'block' ? LIMIT : LOGINS
      expect([logic, admitted, refused]).toEqual([logic, expected, LOGINS - expected])
      expect(await two.limiter.sessions.count(CAROL)).toBe(signedIn)
      expect(signedIn, logic).toBeLessThanOrEqual(LIMIT)
      // Whenever the limit is reached, the mode allow begins again with one session.
      expect(signedIn, logic).toBeGreaterThanOrEqual(logic === 'allow' ? 1 : LIMIT)
    }
  }
})
