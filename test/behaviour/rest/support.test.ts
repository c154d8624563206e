import { expect, it, vi } from 'vitest'
import { SessmgrError } from '../../../src/index.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { LICENSE_KEY } from '../../support/rest-licensing.ts'

const SECRET = 'a secret of the site that nobody may see'
const host = forThisFile(() =>
  startRestHost({ sessmgr: { secret: SECRET, settings: { maximum: 7 }, directory: false } }),
)
const headers = forThisFile(() => host.scriptOf('admin'))
const report = () => host.call('GET', '/sessmgr/v1/support', { headers })

it('GET /support reports versions, settings and the kind of store, null for what is unknown, and no secret', async () => {
  expect((await report()).json).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    store: 'memory',
    shared: false,
    directory: false,
    audit: 'process',
    settings: { maximum: 7, logic: 'allow', idle_release: 0, max_age: 0, enforce: true },
    addons: [1001, 1002, 1003].map((id) => ({ id, licensed: false })),
    people: null,
    sessions: null,
  })
  await host.arrange()
  const { sessionId, token } = await host.signIn('alice', 'CanaryBrowser/1.0')
  const { text } = await report()
  const [password] = await host.limiter.passwords.list(1)
  const secrets = [SECRET, sessionId, token, 'alice', 'admin', 'CanaryBrowser', '127.0.0.1', password?.id, LICENSE_KEY]
  for (const value of secrets) expect(text).not.toContain(value)
})

it('GET /support is answered while the settings and the add-ons cannot be read', async () => {
  const away = new SessmgrError('store_unavailable', 'The store is away.')
  const read = vi.spyOn(host.limiter.settings, 'get').mockRejectedValue(away)
  const list = vi.spyOn(host.limiter.addons, 'list').mockRejectedValue(away)
  const { status, json } = await report()
  read.mockRestore()
  list.mockRestore()
  expect([status, json]).toEqual([200, expect.objectContaining({ store: 'memory', settings: null, addons: null })])
})
