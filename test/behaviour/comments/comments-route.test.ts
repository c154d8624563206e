import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CommentsHost, startCommentsHost, type TestPost, threadOf } from '../../support/comments-host.ts'

const SHARED = 'public, max-age=60, s-maxage=300, stale-while-revalidate=600, stale-if-error=86400'
const PRIVATE = 'private, no-store'
/** Decision 84. */
const VARY = 'Accept-Encoding, Cookie, Accept-Language, X-Forwarded-Host, X-Forwarded-Proto, X-HOST-Nonce'
const PATH = '/api/lazycomments/v1/comments'

let host: CommentsHost
beforeEach(async () => {
  host = await startCommentsHost({ deadlineMs: 1000 })
})
afterEach(() => host.close())

const get = (query: string, headers = {}, method = 'GET') => host.client.send(method, `${PATH}${query}`, { headers })

/** Lets the renderer wait until so many requests have come. */
async function arrival(count: number): Promise<void> {
  while (host.requests.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('an anonymous reader', () => {
  test('gets the comments, in an answer that caches may keep and that sets no cookie; HEAD has its headers', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await get('?post_id=1', {}, method)
      const html = threadOf(host.posts.get(1) as TestPost)
      expect([status, text]).toEqual([200, method === 'GET' ? JSON.stringify({ html }) : ''])
      expect([headers['cache-control'], headers.vary]).toEqual([SHARED, VARY])
      expect(headers.etag).toMatch(/^"[\w-]{43}"$/)
      expect([headers['set-cookie'], headers['x-host-nonce']]).toEqual([undefined, undefined])
    }
  })

  test('gets 304 with all that a cache renews for a known ETag, and 200 for any other or once a comment is new', async () => {
    const { etag, vary } = (await get('?post_id=1')).headers
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, text, headers } = await get('?post_id=1', { 'if-none-match': known })
      expect([known, status, text, headers.vary, headers.etag]).toEqual([known, 304, '', vary, etag])
      expect([headers['cache-control'], headers['content-type']]).toEqual([SHARED, undefined])
    }
    for (const other of ['"other"', '', String(etag).slice(1), String(etag).toLowerCase()]) {
      expect((await get('?post_id=1', { 'if-none-match': other })).status, other).toBe(200)
    }
    const other = await startCommentsHost()
    expect((await other.client.send('GET', `${PATH}?post_id=1`)).headers.etag, 'of another process').toBe(etag)
    await other.close()
    host.posts.set(1, { id: 1, status: 'published', comments: ['Another one.'] })
    expect((await get('?post_id=1', { 'if-none-match': etag })).status).toBe(200)
  })

  test('gets no reason of a failure, which no cache keeps, and 503 while the renderer hangs', async () => {
    host.render = () => Promise.reject(new Error('a secret reason'))
    const failed = await get('?post_id=2')
    host.render = () => new Promise(() => {})
    const slow = await get('?post_id=3')
    expect([failed.status, failed.json.code, failed.json.data]).toEqual([500, 'rest_internal_error', { status: 500 }])
    expect(failed.text).not.toContain('secret')
    expect([slow.status, slow.json.data, slow.headers['retry-after']]).toEqual([503, { status: 503 }, '2'])
    for (const { headers } of [failed, slow]) {
      expect([headers['cache-control'], headers['set-cookie']]).toEqual(['no-store', undefined])
    }
    host.render = threadOf
    expect([(await get('?post_id=2')).status, (await get('?post_id=3')).status]).toEqual([200, 200])
  })
})

describe('the renderer', () => {
  test('renders once for 500 requests that wait, also when it fails, and again for the next', async () => {
    await host.close()
    host = await startCommentsHost({ deadlineMs: 20_000 })
    const answersOf = (postId: number) =>
      Promise.all(
        Array.from({ length: 250 }, async () => {
          const answer = await fetch(`${host.origin}${PATH}?post_id=${postId}`)
          return `${answer.status} ${await answer.text()}`
        }),
      )
    host.render = async (post) => {
      await arrival(500)
      if (post.id === 2) throw new Error('broken')
      return threadOf(post)
    }
    const [good, failed] = (await Promise.all([answersOf(1), answersOf(2)])).map((answers) => new Set(answers))
    expect([good?.size, failed?.size, host.renders]).toEqual([1, 1, 2])
    expect([...(failed ?? [])][0]).toMatch(/^500 /)
    host.render = threadOf
    expect((await get('?post_id=2')).status).toBe(200)
  })

  test('that gives something else than a text, or a filter that does, gives 500, tells the log, and works again', async () => {
    const { hooks } = host.limiter
    host.render = () => new String('x') as never
    for (const what of ['a renderer', 'a filter']) {
      const { status, json } = await get('?post_id=1')
      expect([what, status, json.code]).toEqual([what, 500, 'rest_internal_error'])
      expect(JSON.stringify(host.logs.at(-1))).toContain('must return the comments markup as a string')
      host.render = threadOf
      hooks.addFilter('lazycomments_rendered_html', 'test', () => null as never)
    }
    hooks.removeFilter('lazycomments_rendered_html', 'test')
    expect((await get('?post_id=1')).status).toBe(200)
  })
})

describe('rule 29', () => {
  test('answers 400 to what is no id of a post, says what it is like, and does not ask the application', async () => {
    const ids = ['', '1e3', '%201', '1.0', '-1', '0', '01', '9007199254740992', '%EF%BC%91', '1%00', '1&post_id=2']
    for (const query of ['', '?post_id[]=1', ...ids.map((id) => `?post_id=${id}`)]) {
      const { status, json } = await get(query)
      expect([query, status, json.code, json.data.status]).toEqual([query, 400, 'rest_invalid_param', 400])
      expect(json.data.params, query).toHaveProperty('post_id')
    }
    expect((await get('?post_id=1.5')).json.data.params).toEqual({
      post_id: 'must be a whole number from 1 to 9007199254740991',
    })
    expect(host.asked).toEqual([])
  })

  test('answers 404 and empty markup for a draft and for no post, for ten seconds', async () => {
    for (const id of [4, 999, 9007199254740991]) {
      const { status, text, headers } = await get(`?post_id=${id}`)
      const expected = [id, 404, '{"html":""}', 'public, max-age=0, s-maxage=10']
      expect([id, status, text, headers['cache-control']]).toEqual(expected)
    }
  })

  test('gives a locked post as empty markup, an open one in full, and lets no cache keep either', async () => {
    const locked = await get('?post_id=5')
    expect([locked.status, locked.text, locked.headers['cache-control']]).toEqual([200, '{"html":""}', PRIVATE])
    const open = await get('?post_id=5', { 'x-password': 'open' })
    expect([open.json.html.includes('Voice 2.'), open.headers['cache-control']]).toEqual([true, PRIVATE])
    expect((await get('?post_id=5')).text).toBe('{"html":""}')
    const inline = (headers: object) =>
      host.comments.render({ url: '/?comments=all', headers } as never, host.posts.get(5))
    expect(await inline({})).toBe('')
    expect(await inline({ 'x-password': 'open' })).toContain('Voice 2.')
  })

  test('never lends an open post to another request that asks at the same moment', async () => {
    host.render = async (post) => {
      await arrival(3)
      return threadOf(post)
    }
    const open = { 'x-password': 'open' }
    const answers = await Promise.all([get('?post_id=5', open), get('?post_id=5'), get('?post_id=5', open)])
    expect(answers.map(({ json }) => json.html.includes('Voice 2.'))).toEqual([true, false, true])
  })
})

describe('a signed-in reader', () => {
  test('gets a form with the own name, a fresh nonce, and every answer in private', async () => {
    const { cookie, nonce } = await host.signIn('alice')
    const { status, headers, json } = await get('?post_id=1', { cookie, 'x-host-nonce': nonce })
    expect([status, headers['x-host-nonce']]).toEqual([200, nonce])
    expect(json.html).toContain('As alice')
    for (const query of ['?post_id=1', '?post_id=999', '?post_id=5']) {
      const answer = await get(query, { cookie, 'x-host-nonce': nonce })
      expect([answer.headers['cache-control'], answer.headers.vary], query).toEqual([PRIVATE, VARY])
    }
    expect(headers.etag).not.toBe((await get('?post_id=1')).headers.etag)
    const again = await get('?post_id=1', { cookie, 'x-host-nonce': nonce, 'if-none-match': headers.etag })
    expect([again.status, again.text, again.headers['cache-control']]).toEqual([304, '', PRIVATE])
  })

  test('with a stale nonce gets 403, is a guest without one, and gets private answers after the session', async () => {
    const { cookie } = await host.signIn('alice')
    const { status, json } = await get('?post_id=1', { cookie, 'x-host-nonce': 'stale' })
    expect([status, json.code, json.data]).toEqual([403, 'rest_cookie_invalid_nonce', { status: 403 }])
    expect(host.renders).toBe(0)
    const guest = await get('?post_id=1', { cookie })
    expect([guest.status, guest.headers['x-host-nonce']]).toEqual([200, undefined])
    expect([guest.json.html.includes('As guest'), guest.headers['cache-control']]).toEqual([true, PRIVATE])
    await host.client.send('POST', '/logout', { headers: { cookie } })
    expect((await get('?post_id=1', { cookie })).headers['cache-control']).toBe(PRIVATE)
  })
})
