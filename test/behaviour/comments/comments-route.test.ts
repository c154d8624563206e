import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CommentsHost, startCommentsHost, threadOf } from '../../support/comments-host.ts'

const SHARED = 'public, max-age=60, s-maxage=300, stale-while-revalidate=600, stale-if-error=86400'
/** Decision 84. */
const VARY = 'Accept-Encoding, Cookie, Accept-Language, X-Forwarded-Host, X-Forwarded-Proto, X-HOST-Nonce'
const PATH = '/api/lazycomments/v1/comments'

let host: CommentsHost
beforeEach(async () => {
  host = await startCommentsHost({ deadlineMs: 1000 })
})
afterEach(() => host.close())

const get = (query: string, headers = {}, method = 'GET') => host.client.send(method, `${PATH}${query}`, { headers })

describe('an anonymous reader', () => {
  test('gets the comments, in an answer that caches may keep and that sets no cookie', async () => {
    const { status, headers, json } = await get('?post_id=1')
    expect(status).toBe(200)
    expect(json).toEqual({ html: threadOf(host.posts.get(1) as never) })
    expect(headers['cache-control']).toBe(SHARED)
    expect(headers.vary).toBe(VARY)
    expect(headers.etag).toMatch(/^"[\w-]{43}"$/)
    expect(headers['set-cookie']).toBeUndefined()
    expect(headers['x-host-nonce']).toBeUndefined()
  })

  test('gets 304 without a body for a known ETag, weak or among others, and 200 once a comment is new', async () => {
    const { etag } = (await get('?post_id=1')).headers
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const { status, text, headers } = await get('?post_id=1', { 'if-none-match': known })
      expect([status, text, headers.etag, headers['cache-control']]).toEqual([304, '', etag, SHARED])
    }
    host.posts.set(1, { id: 1, status: 'published', comments: ['Another one.'] })
    expect((await get('?post_id=1', { 'if-none-match': etag })).status).toBe(200)
  })

  test('gets 304 with all that a cache renews, and 200 for another tag, an empty one, or a list without it', async () => {
    const { etag, vary } = (await get('?post_id=1')).headers
    for (const method of ['GET', 'HEAD']) {
      const { status, text, headers } = await get('?post_id=1', { 'if-none-match': etag }, method)
      expect([status, text, headers.vary, headers.etag]).toEqual([304, '', vary, etag])
      expect([headers['content-type'], headers['set-cookie']]).toEqual([undefined, undefined])
    }
    expect((await get('?post_id=1', { 'if-none-match': '*' })).status).toBe(304)
    for (const other of ['"other"', '', `"a", "b"`, String(etag).slice(1), String(etag).toLowerCase()]) {
      expect((await get('?post_id=1', { 'if-none-match': other })).status).toBe(200)
    }
  })

  test('gets the same tag from every process, and another for other markup', async () => {
    const other = await startCommentsHost()
    const { etag } = (await get('?post_id=1')).headers
    expect((await other.client.send('GET', `${PATH}?post_id=1`)).headers.etag).toBe(etag)
    other.posts.set(1, { id: 1, status: 'published', comments: ['Another one.'] })
    expect((await other.client.send('GET', `${PATH}?post_id=1`)).headers.etag).not.toBe(etag)
    await other.close()
  })

  test('gets no cookie with any answer', async () => {
    const { etag } = (await get('?post_id=1')).headers
    const answers = [
      await get('?post_id=1'),
      await get('?post_id=1', { 'if-none-match': etag }),
      await get('?post_id=5'),
      await get('?post_id=x'),
      await get('?post_id=999'),
    ]
    host.render = () => Promise.reject(new Error('broken'))
    answers.push(await get('?post_id=2'))
    host.render = () => new Promise(() => {})
    answers.push(await get('?post_id=3'))
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 200, 400, 404, 500, 503])
    expect(answers.filter(({ headers }) => 'set-cookie' in headers)).toEqual([])
    const kept = answers.slice(3).map(({ headers }) => headers['cache-control'])
    expect(kept).toEqual(['no-store', 'public, max-age=0, s-maxage=10', 'no-store', 'no-store'])
  })

  test.each(['1abc', '-1', '01', '1.5', '9007199254740992', '1'.repeat(400)])(
    'is told what the id of a post is like instead of %s, and nothing of changes',
    async (given) => {
      const { status, json } = await get(`?post_id=${given}`)
      expect([status, json]).toEqual([
        400,
        {
          code: 'rest_invalid_param',
          message: 'Invalid parameter(s): post_id.',
          data: { status: 400, params: { post_id: 'must be a whole number from 1 to 9007199254740991' } },
        },
      ])
    },
  )

  test('gets the same headers and no body for HEAD', async () => {
    const head = await get('?post_id=1', {}, 'HEAD')
    const full = await get('?post_id=1')
    expect([head.status, head.text, head.headers.etag]).toEqual([200, '', full.headers.etag])
    expect(head.headers['cache-control']).toBe(SHARED)
  })
})

describe('rule 29', () => {
  test.each(['', '?post_id=', '?post_id=1e3', '?post_id=%201', '?post_id=1.0', '?post_id=-1', '?post_id=0'])(
    'answers 400 to "%s" and does not ask the application',
    refuses,
  )
  test.each([
    '01',
    '+1',
    '0x1',
    '9007199254740992',
    '99999999999999999',
    '%EF%BC%91',
    '1%00',
    '1&post_id=1',
    '1&post_id=2',
  ])('answers 400 to post_id=%s and does not ask the application', (value) => refuses(`?post_id=${value}`))
  test.each(['?post_id[]=1', '?post_id[0]=1'])('answers 400 to the list %s', refuses)

  async function refuses(query: string): Promise<void> {
    const { status, json } = await get(query)
    expect([status, json.code, json.data.status]).toEqual([400, 'rest_invalid_param', 400])
    expect(json.data.params).toHaveProperty('post_id')
    expect(host.asked).toEqual([])
  }

  test.each([4, 999, 9007199254740991])('answers 404 and empty markup for post %i, for ten seconds', async (id) => {
    const { status, text, headers } = await get(`?post_id=${id}`)
    expect([status, text]).toEqual([404, '{"html":""}'])
    expect(headers['cache-control']).toBe('public, max-age=0, s-maxage=10')
  })

  test('gives a locked post as empty markup, an open one in full, and lets no cache keep either', async () => {
    const locked = await get('?post_id=5')
    expect([locked.status, locked.text, locked.headers['cache-control']]).toEqual([
      200,
      '{"html":""}',
      'private, no-store',
    ])
    const open = await get('?post_id=5', { 'x-password': 'open' })
    expect([open.json.html.includes('Voice 2.'), open.headers['cache-control']]).toEqual([true, 'private, no-store'])
    expect((await get('?post_id=5')).text).toBe('{"html":""}')
  })

  test('never lends an open post to another request that asks at the same moment', async () => {
    host.render = async (post) => {
      while (host.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
      return threadOf(post)
    }
    const open = { 'x-password': 'open' }
    const answers = await Promise.all([get('?post_id=5', open), get('?post_id=5'), get('?post_id=5', open)])
    expect(answers.map(({ json }) => json.html.includes('Voice 2.'))).toEqual([true, false, true])
  })

  test('leaves the route on when the method is off', async () => {
    await host.comments.settings.set('load_method', 'off')
    expect((await get('?post_id=1')).status).toBe(200)
  })
})

describe('a signed-in reader', () => {
  test('gets a form with the own name, a fresh nonce, and an answer that no cache keeps', async () => {
    const { cookie, nonce } = await host.signIn('alice')
    const { status, headers, json } = await get('?post_id=1', { cookie, 'x-host-nonce': nonce })
    expect([status, headers['cache-control']]).toEqual([200, 'private, no-store'])
    expect(headers['x-host-nonce']).toBe(nonce)
    expect(json.html).toContain('As alice')
  })

  test('with a stale nonce gets 403 in the error shape, and the comments without it', async () => {
    const { cookie } = await host.signIn('alice')
    const { status, json } = await get('?post_id=1', { cookie, 'x-host-nonce': 'stale' })
    expect([status, json.code, json.data]).toEqual([403, 'rest_cookie_invalid_nonce', { status: 403 }])
    expect(host.renders).toBe(0)
    const { status: second, headers } = await get('?post_id=1', { cookie })
    // The application may know who reads, so this answer must never reach another reader.
    expect([second, headers['cache-control']]).toEqual([200, 'private, no-store'])
  })

  test('without a nonce is a guest, whatever the cookie says', async () => {
    const { cookie } = await host.signIn('alice')
    const { status, headers, json } = await get('?post_id=1', { cookie })
    expect([status, headers['cache-control'], headers['x-host-nonce']]).toEqual([200, 'private, no-store', undefined])
    expect([json.html.includes('As guest'), json.html.includes('alice')]).toEqual([true, false])
  })

  test('gets every answer in private', async () => {
    const { cookie, nonce } = await host.signIn('alice')
    for (const [query, status] of [
      ['?post_id=1', 200],
      ['?post_id=999', 404],
      ['?post_id=5', 200],
    ] as const) {
      for (const headers of [{ cookie }, { cookie, 'x-host-nonce': nonce }]) {
        const answer = await get(query, headers)
        expect([answer.status, answer.headers['cache-control']]).toEqual([status, 'private, no-store'])
        expect(answer.headers.vary).toBe(VARY)
      }
    }
  })

  test('gets 304, too, in private, and never the ETag of what guests get', async () => {
    const { cookie, nonce } = await host.signIn('alice')
    const headers = { cookie, 'x-host-nonce': nonce }
    const { etag } = (await get('?post_id=1', headers)).headers
    expect(etag).not.toBe((await get('?post_id=1')).headers.etag)
    const again = await get('?post_id=1', { ...headers, 'if-none-match': etag })
    expect([again.status, again.text, again.headers['cache-control']]).toEqual([304, '', 'private, no-store'])
  })

  test('never lends the own name to an anonymous reader who asks at the same moment', async () => {
    const { cookie, nonce } = await host.signIn('alice')
    const both = [get('?post_id=1', { cookie, 'x-host-nonce': nonce }), get('?post_id=1')]
    const [alice, guest] = await Promise.all(both)
    expect([alice?.json.html.includes('As alice'), guest?.json.html.includes('As guest')]).toEqual([true, true])
  })

  test('whose session was ended gets an answer that no cache keeps', async () => {
    const { cookie } = await host.signIn('alice')
    await host.client.send('POST', '/logout', { headers: { cookie } })
    const { headers } = await get('?post_id=1', { cookie })
    expect(headers['cache-control']).toBe('private, no-store')
  })
})
