import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { registerSession } from '../../support/register-session.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { AGENTS } from '../../support/user-agents.ts'

const asked: string[] = []
let place: () => unknown = () => undefined
const host = forThisFile(() =>
  startRestHost({
    sessmgr: { device: true },
    host: {
      location(ip) {
        asked.push(ip)
        return place() as string
      },
    },
  }),
)
const headers = forThisFile(() => host.scriptOf('admin'))
const list = async (query = '') => (await host.call('GET', `/sessmgr/v1/sessions?user=alice${query}`, { headers })).json

const register = (ip: string | null, device: string | null = null) => registerSession(host, 2, { ip, device })

beforeEach(async () => {
  await host.limiter.sessions.endAll(2)
  asked.length = 0
})

describe('the rows of GET /sessions', () => {
  it('name each device with its version and kind, in the language of the reader', async () => {
    await host.signIn('alice', AGENTS.linux)
    await host.signIn('alice', AGENTS.iphone)
    await host.signIn('alice', 'MyCompanyApp/5 (inventory)')
    const { sessions } = await list()
    expect(sessions.map(({ device }: { device: object }) => device)).toEqual([
      { name: 'Firefox 128 on Linux', kind: 'computer' },
      { name: 'Safari 17 on iPhone', kind: 'phone' },
      { name: 'MyCompanyApp 5', kind: 'program' },
    ])
  })

  it('name the next older session of the same browser', async () => {
    const { token: one } = await register(null, 'A'.repeat(16))
    await register(null)
    await register(null, 'B'.repeat(16))
    const { token: two } = await register(null, 'A'.repeat(16))
    await register(null, 'A'.repeat(16))
    const { sessions } = await list()
    expect(sessions.map((row: { same_browser: unknown }) => row.same_browser)).toEqual([null, null, null, one, two])
  })
})

describe('the limit of GET /sessions', () => {
  it('is the own maximum of the user, and says when they are over it, also on a page', async () => {
    for (let count = 0; count < 3; count++) await register(null)
    host.limiter.hooks.addFilter('sessmgr_maximum', 'test', (maximum, userId) => (userId === 2 ? 2 : maximum))
    try {
      for (const query of ['', '&limit=1', '&limit=1&after=1', '&after=2']) {
        expect((await list(query)).limit, query).toEqual({ maximum: 2, logic: 'allow', over: true })
      }
      host.limiter.hooks.addFilter('sessmgr_maximum', 'test', () => 3)
      for (const query of ['', '&limit=1', '&after=2']) expect((await list(query)).limit.over, query).toBe(false)
    } finally {
      host.limiter.hooks.removeFilter('sessmgr_maximum', 'test')
    }
  })

  it('has no maximum for those who are exempt', async () => {
    host.limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
    try {
      expect((await list()).limit).toEqual({ maximum: null, logic: 'allow', over: false })
    } finally {
      host.limiter.hooks.removeFilter('sessmgr_bypass', 'test')
    }
  })

  it('is unknown while a filter fails, and the sessions are listed all the same', async () => {
    const { token } = await register(null)
    host.limiter.hooks.addFilter('sessmgr_maximum', 'test', () => {
      throw new Error('no database')
    })
    try {
      expect(await list()).toMatchObject({ limit: null, sessions: [{ token }] })
    } finally {
      host.limiter.hooks.removeFilter('sessmgr_maximum', 'test')
    }
  })
})

describe('places', () => {
  const places = async () => (await list()).sessions.map((row: { place: unknown }) => row.place)

  it('come from host.location, which is asked once for an address', async () => {
    place = () => 'Berlin, DE'
    for (const ip of ['203.0.113.1', '203.0.113.1', null, '203.0.113.2']) await register(ip)
    for (let times = 0; times < 3; times++) {
      expect(await places()).toEqual(['Berlin, DE', 'Berlin, DE', null, 'Berlin, DE'])
    }
    expect(asked.toSorted()).toEqual(['203.0.113.1', '203.0.113.2'])
  })

  it('are left out when the application fails', async () => {
    place = () => Promise.reject(new Error('no table'))
    await register('198.51.100.1')
    expect(await places()).toEqual([null])
  })
})
