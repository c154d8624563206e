import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commentAssets } from '../../../src/features/comments/comments-routes.ts'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'

const PATH = '/api/lazycomments/v1/cache'
const ASSETS = '/api/lazycomments/v1/assets'

let host: CommentsHost
beforeEach(async () => {
  host = await startCommentsHost()
})
afterEach(() => host.close())

async function clear(login?: string) {
  const who = login === undefined ? undefined : await host.signIn(login)
  const headers = who ? { cookie: who.cookie, 'x-host-nonce': who.nonce } : {}
  await host.comments.cache.set(1, 'block')
  const { status, json } = await host.client.send('DELETE', PATH, { headers })
  return { status, json, kept: await host.comments.cache.get(1) }
}

describe('rule 33: clearing the cache', () => {
  test('takes manage_options', async () => {
    const { status, json, kept } = await clear('admin')
    expect([status, json, kept]).toEqual([200, { success: true, message: expect.any(String) }, false])
    expect((await clear('admin')).status).toBe(200)
  })

  test('rule 64: is a POST with X-HTTP-Method-Override for clients of WordPress', async () => {
    const { cookie, nonce } = await host.signIn('admin')
    const headers = { cookie, 'x-host-nonce': nonce, 'x-http-method-override': 'DELETE' }
    await host.comments.cache.set(1, 'block')
    const answer = await host.client.send('POST', PATH, { headers: { ...headers, 'content-type': 'application/json' } })
    expect([answer.status, await host.comments.cache.get(1)]).toEqual([200, false])
  })

  test.each([
    ['nobody', undefined, 401],
    ['a subscriber', 'alice', 403],
    ['an editor', 'carol', 403],
  ])('is refused to %s, and nothing is cleared', async (_name, login, expected) => {
    const { status, json, kept } = await clear(login)
    expect([status, json.code, json.data.status, kept]).toEqual([expected, 'rest_forbidden', expected, 'block'])
  })

  test('takes another capability when the filter names one', async () => {
    host.limiter.hooks.addFilter('lazycomments_capability', 'test', () => 'edit_posts')
    expect([(await clear('carol')).status, (await clear('alice')).status]).toEqual([200, 403])
  })

  test.each([
    ['allows everybody', true, [200, 200, 200]],
    ['refuses everybody', false, [403, 403, 401]],
  ])('is decided last by the filter that %s', async (_name, verdict, expected) => {
    const given: boolean[] = []
    host.limiter.hooks.addFilter('lazycomments_has_access', 'test', (access) => {
      given.push(access)
      return verdict
    })
    const statuses = [(await clear('admin')).status, (await clear('alice')).status, (await clear()).status]
    expect(statuses).toEqual(expected)
    // Whoever is known is asked about before the body has come, and again after it.
    expect(given).toEqual(verdict ? [true, true, false, false, false] : [true, false, false])
  })
})

describe('the files for the browser', () => {
  test.each(Object.entries(commentAssets))('%s: may be kept for ever', async (_name, { name, type, text }) => {
    const answer = await host.client.send('GET', `${ASSETS}/${name}`)
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([200, type, text])
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
  })

  test.each(['0000000000000000.js', 'script', '..%2f..%2fpackage.json'])('%s is not one of them', async (name) => {
    const { status, json } = await host.client.send('GET', `${ASSETS}/${name}`)
    expect([status, json.code]).toEqual([404, 'rest_no_route'])
  })
})
