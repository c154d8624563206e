import { expect, it, vi } from 'vitest'
import { memoryStore, SessmgrError } from '../../../src/index.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'

const SUPPORT = '/sessmgr/v1/support'
const SECRET = 'a secret of the site that nobody may see'

const store = memoryStore()
const host = forThisFile(() =>
  startRestHost({ sessmgr: { store, secret: SECRET, settings: { maximum: 7 }, directory: false } }),
)
const headers = forThisFile(() => host.scriptOf('admin'))

it('reports versions, settings and the kind of store, and null for what is unknown', async () => {
  const { json } = await host.call('GET', SUPPORT, { headers })
  expect(json).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    store: 'memory',
    shared: false,
    directory: false,
    audit: 'process',
    settings: { maximum: 7, logic: 'allow', idle_release: 0, enforce: true },
    addons: [1001, 1002, 1003].map((id) => ({ id, licensed: false })),
    people: null,
    sessions: null,
  })
})

it('names no user, address, key or secret', async () => {
  await host.arrange()
  const { sessionId, token } = await host.signIn('alice', 'CanaryBrowser/1.0')
  const { text } = await host.call('GET', SUPPORT, { headers })
  const [password] = await host.limiter.passwords.list(1)
  const [license] = (await host.limiter.addons.list()).items
  const private_ = [SECRET, sessionId, token, 'alice', 'admin', 'CanaryBrowser', '127.0.0.1', password?.id]
  for (const value of [...private_, license?.license_key || 'nothing']) expect(text).not.toContain(value)
})

it('is answered while the settings and the add-ons cannot be read', async () => {
  const away = new SessmgrError('store_unavailable', 'The store is away.')
  const read = vi.spyOn(host.limiter.settings, 'get').mockRejectedValue(away)
  const list = vi.spyOn(host.limiter.addons, 'list').mockRejectedValue(away)
  const { status, json } = await host.call('GET', SUPPORT, { headers })
  read.mockRestore()
  list.mockRestore()
  expect([status, json]).toEqual([200, expect.objectContaining({ store: 'memory', settings: null, addons: null })])
})
