import { describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { basic } from '../../support/rest-client.ts'
import { startRestHost } from '../../support/rest-host.ts'

const SETTINGS = '/sessmgr/v1/settings'
const DESTROY_ALL = '/sessmgr/v1/sessions/destroy-all'

const failed: unknown[] = []
const host = forThisFile(() =>
  startRestHost({ attempts: { allow: () => true, failed: (attempt) => failed.push(attempt) } }),
)
const script = forThisFile(() => host.scriptOf('admin'))

const FOREIGN = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'none' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
]

describe('a call with an application password that a browser repeats', () => {
  it.each(FOREIGN)('is refused with %j, when it would change something', async (headers) => {
    const before = await host.snapshot()
    const answer = await host.call('POST', DESTROY_ALL, { headers: { ...script, ...headers } })
    expect([answer.status, answer.json.code]).toEqual([403, 'rest_cross_origin'])
    expect(await host.snapshot()).toEqual(before)
  })

  it.each(FOREIGN)('guesses nothing with %j', async (headers) => {
    const answer = await host.call('POST', DESTROY_ALL, { headers: { ...basic('admin', 'wrong'), ...headers } })
    expect([answer.status, failed]).toEqual([403, []])
  })

  it('goes through from the site itself, from a script, and when it only reads', async () => {
    const same = { ...script, origin: host.origin, 'sec-fetch-site': 'same-origin' }
    const json = { maximum: 4 }
    expect((await host.call('POST', SETTINGS, { headers: same, json })).status).toBe(200)
    expect((await host.call('POST', SETTINGS, { headers: { ...script, origin: host.origin }, json })).status).toBe(200)
    expect((await host.call('POST', SETTINGS, { headers: script, json })).status).toBe(200)
    for (const headers of FOREIGN) {
      expect((await host.call('GET', SETTINGS, { headers: { ...script, ...headers } })).status).toBe(200)
    }
  })
})
