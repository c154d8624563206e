import { expect, it, onTestFinished } from 'vitest'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import type { OptionStore } from '../../../src/options/option-store.ts'
import { redisStore } from '../../../src/redis.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { startRedis } from '../../support/redis-server.ts'

it('the secrets of a site are the same in all processes that start at once, and after a restart', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const clients = await Promise.all(Array.from({ length: 4 }, () => connectRedis(redis.url)))
  const stores = clients.map((client) => redisStore({ client }).options)
  const found = await Promise.all(stores.map((options) => new SiteSecrets(options, []).all()))
  expect(new Set(found.flat()).size).toBe(1)
  expect(await new SiteSecrets(stores[0] as OptionStore, []).all()).toEqual(found[0])
  for (const client of clients) client.destroy()
})
