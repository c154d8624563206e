import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'

const OPTION = 'lazycomments_settings'
const SITE = '/api/wp/v2/settings'
const CACHE = '/api/lazycomments/v1/cache'

let host: CommentsHost
beforeEach(async () => {
  host = await startCommentsHost()
})
afterEach(() => host.close())

async function callsOf(login: string) {
  const { cookie, nonce } = await host.signIn(login)
  const headers = { cookie, 'x-host-nonce': nonce }
  return (method: string, path: string, json?: object) => host.client.send(method, path, { headers, json })
}

const COMMENTS = { [OPTION]: { minimum_count: 3 } }
const SESSIONS = { sessmgr_settings: { maximum: 3 } }

describe('rule 39: who has the capability of the lazy comments alone', () => {
  beforeEach(() => void host.limiter.hooks.addFilter('lazycomments_capability', 'test', () => 'edit_posts'))

  it('reads and writes their settings, and no other', async () => {
    const call = await callsOf('carol')
    expect(Object.keys((await call('GET', SITE)).json)).toEqual([OPTION])
    const saved = await call('POST', SITE, COMMENTS)
    expect([saved.status, saved.json[OPTION].minimum_count]).toEqual([200, 3])
    expect((await call('GET', `${SITE}/${OPTION}`)).json.stored).toEqual({ minimum_count: 3 })
    expect((await call('DELETE', `${SITE}/${OPTION}/minimum_count`)).status).toBe(200)
    for (const json of [SESSIONS, { ...COMMENTS, ...SESSIONS }]) {
      const refused = await call('POST', SITE, json)
      expect([refused.status, refused.json.code]).toEqual([403, 'rest_forbidden'])
    }
    for (const method of ['GET', 'DELETE']) expect((await call(method, `${SITE}/sessmgr_settings`)).status).toBe(403)
    expect(await host.limiter.settings.get()).not.toMatchObject({ maximum: 3 })
    expect((await host.comments.settings.all()).minimum_count).toBe(1)
    expect((await call('DELETE', CACHE)).status).toBe(200)
  })

  it('keeps an administrator without it away from them, and from nothing else', async () => {
    host.limiter.hooks.addFilter('lazycomments_capability', 'test', () => 'moderate_comments', 20)
    const call = await callsOf('admin')
    expect((await call('GET', SITE)).json).not.toHaveProperty(OPTION)
    expect((await call('POST', SITE, COMMENTS)).status).toBe(403)
    expect((await call('GET', `${SITE}/${OPTION}`)).status).toBe(403)
    expect((await call('DELETE', CACHE)).status).toBe(403)
    expect((await call('POST', SITE, SESSIONS)).status).toBe(200)
  })
})

describe('rule 39: lazycomments_has_access', () => {
  it('has the last word on their settings too', async () => {
    const call = await callsOf('admin')
    host.limiter.hooks.addFilter('lazycomments_has_access', 'test', () => false)
    expect([(await call('POST', SITE, COMMENTS)).status, (await call('DELETE', CACHE)).status]).toEqual([403, 403])
    expect((await call('GET', SITE)).json).not.toHaveProperty(OPTION)
  })

  it('lets no stranger read or write settings', async () => {
    host.limiter.hooks.addFilter('lazycomments_has_access', 'test', () => true)
    expect((await host.client.send('GET', SITE)).status).toBe(401)
    expect((await host.client.send('POST', SITE, { json: COMMENTS })).status).toBe(401)
  })
})
