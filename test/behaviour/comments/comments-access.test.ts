import { afterEach, beforeEach, expect, it } from 'vitest'
import { commentAssets } from '../../../src/features/comments/comments-routes.ts'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'

const OPTION = 'lazycomments_settings'
const SITE = '/api/wp/v2/settings'
const CACHE = '/api/lazycomments/v1/cache'
const ASSETS = '/api/lazycomments/v1/assets'
const COMMENTS = { [OPTION]: { minimum_count: 3 } }
const SESSIONS = { sessmgr_settings: { maximum: 3 } }

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

/** Keeps a block, asks that the cache be cleared, and tells what came of it. */
async function clear(login?: string) {
  await host.comments.cache.set(1, 'block')
  const answer = login ? await (await callsOf(login))('DELETE', CACHE) : await host.client.send('DELETE', CACHE)
  return { status: answer.status, json: answer.json, kept: await host.comments.cache.get(1) }
}
const statuses = async () => [(await clear('admin')).status, (await clear('alice')).status, (await clear()).status]

it('rule 33: clearing the cache takes manage_options, and clears nothing for anybody else', async () => {
  const { status, json, kept } = await clear('admin')
  expect([status, json, kept]).toEqual([200, { success: true, message: expect.any(String) }, false])
  for (const [login, expected] of [[undefined, 401] as const, ['alice', 403] as const]) {
    const refused = await clear(login)
    expect([refused.status, refused.json.code, refused.kept], login).toEqual([expected, 'rest_forbidden', 'block'])
  }
})

it('rule 33: lazycomments_capability names what it takes instead, and lazycomments_has_access decides last', async () => {
  const { hooks } = host.limiter
  const capabilities: unknown[][] = []
  hooks.addFilter('lazycomments_capability', 'test', (...args) => {
    capabilities.push(args)
    return 'read'
  })
  expect([(await clear('alice')).status, (await clear()).status]).toEqual([200, 401])
  // Asked before the body is read and again after it; a stranger is refused at once.
  expect(capabilities).toEqual([['manage_options'], ['manage_options'], ['manage_options']])
  for (const [verdict, expected, asked] of [
    [true, [200, 200, 200], [[true], [true], [true], [true], [false]]],
    [false, [403, 403, 401], [[true], [true], [false]]],
  ] as const) {
    const given: unknown[][] = []
    hooks.addFilter('lazycomments_has_access', 'test', (...args) => {
      given.push(args)
      return verdict
    })
    expect([await statuses(), given]).toEqual([expected, asked])
    hooks.removeFilter('lazycomments_has_access', 'test')
  }
})

it('rule 39: who has the capability of the lazy comments alone reads and writes their settings, and no other', async () => {
  const { hooks, settings } = host.limiter
  hooks.addFilter('lazycomments_capability', 'test', () => 'edit_posts')
  const call = await callsOf('carol')
  expect(Object.keys((await call('GET', SITE)).json)).toEqual([OPTION])
  const saved = await call('POST', SITE, COMMENTS)
  expect([saved.status, saved.json[OPTION].minimum_count]).toEqual([200, 3])
  expect((await call('GET', `${SITE}/${OPTION}`)).json.stored).toEqual({ minimum_count: 3 })
  expect((await call('DELETE', `${SITE}/${OPTION}/minimum_count`)).status).toBe(200)
  const refused = await call('POST', SITE, { ...COMMENTS, ...SESSIONS })
  expect([refused.status, refused.json.code]).toEqual([403, 'rest_forbidden'])
  for (const method of ['GET', 'DELETE']) expect((await call(method, `${SITE}/sessmgr_settings`)).status).toBe(403)
  expect([(await settings.get()).maximum, (await host.comments.settings.all()).minimum_count]).toEqual([50, 1])
})

it('rule 39: lazycomments_has_access has the last word on their settings too, but lets no stranger in', async () => {
  const { hooks } = host.limiter
  const call = await callsOf('admin')
  hooks.addFilter('lazycomments_has_access', 'test', () => false)
  expect((await call('GET', SITE)).json).not.toHaveProperty(OPTION)
  const answers = [
    await call('POST', SITE, COMMENTS),
    await call('GET', `${SITE}/${OPTION}`),
    await call('DELETE', CACHE),
  ]
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
  expect((await call('POST', SITE, SESSIONS)).status).toBe(200)
  hooks.addFilter('lazycomments_has_access', 'test', () => true, 20)
  expect((await host.client.send('GET', SITE)).status).toBe(401)
  expect((await host.client.send('POST', SITE, { json: COMMENTS })).status).toBe(401)
})

it('the files for the browser may be kept for ever, and no other name is one of them', async () => {
  for (const { name, type, text } of Object.values(commentAssets)) {
    const answer = await host.client.send('GET', `${ASSETS}/${name}`)
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([200, type, text])
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
  }
  for (const name of ['0000000000000000.js', 'script', '..%2f..%2fpackage.json']) {
    const { status, json } = await host.client.send('GET', `${ASSETS}/${name}`)
    expect([name, status, json.code]).toEqual([name, 404, 'rest_no_route'])
  }
})
