import type { Request } from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Theme } from '../../../src/index.ts'
import { startCommentsHost, type TestPost } from '../../support/comments-host.ts'
import { deferred } from '../../support/deferred.ts'
import { RestClient } from '../../support/rest-client.ts'
import { startSharedCache } from '../../support/shared-cache.ts'

const CLEAN = '/api/lazycomments/v1/comments?post_id=1'
const READER = { 'x-forwarded-host': 'blog.example', 'x-forwarded-proto': 'https', 'accept-language': 'en' }

/** Renders all that a theme can read of where and how it was asked. */
const theme: Theme<TestPost> = {
  renderComments: (_post, context) => {
    const request = context.request as Request
    const page = new URL(request.originalUrl, `${request.protocol}://${request.hostname}`)
    return `${page.href} ${request.acceptsLanguages('en', 'de')} ${request.query.cpage}`
  },
}

const STRANGERS = [
  ['another page of the thread', '&cpage=2', {}],
  ['an empty parameter', '&', {}],
  ['an unnamed value', '&=', {}],
  ['another host', '', { 'x-forwarded-host': 'evil.example' }],
  ['another page on another host', '&cpage=2', { 'x-forwarded-host': 'evil.example' }],
  ['another protocol', '', { 'x-forwarded-proto': 'http' }],
  ['another language', '', { 'accept-language': 'de' }],
] as const

async function start(given: Theme<TestPost> = theme) {
  const host = await startCommentsHost({ theme: given, isBehindProxy: true })
  onTestFinished(() => host.close())
  return host
}

describe('decision 84: a reader without a cookie', () => {
  test.each(STRANGERS)(
    'gets the same comments from a shared cache after a stranger has asked for %s',
    async (_what, query, headers) => {
      const host = await start()
      const expected = (await host.client.send('GET', CLEAN, { headers: READER })).text
      const cache = new RestClient(await startSharedCache(host.origin))
      const strange = await cache.send('GET', `${CLEAN}${query}`, { headers: { ...READER, ...headers } })
      const reader = await cache.send('GET', CLEAN, { headers: READER })
      const next = await cache.send('GET', CLEAN, { headers: READER })
      expect([reader.text, next.text, next.headers['x-cache']]).toEqual([expected, expected, 'hit'])
      if (strange.status === 200) expect(strange.text).not.toBe(expected)
    },
  )

  test.each(STRANGERS)('never shares the rendering of a stranger who asks for %s', async (_what, query, headers) => {
    const both = deferred()
    const host = await start({
      renderComments: async (post, context) => {
        if (host.requests.length > 1) both.resolve()
        await both.promise
        return 'renderComments' in theme ? theme.renderComments(post, context) : ''
      },
    })
    const strange = host.client.send('GET', `${CLEAN}${query}`, { headers: { ...READER, ...headers } })
    const reader = await host.client.send('GET', CLEAN, { headers: READER })
    expect(reader.json.html).toBe(`https://blog.example${CLEAN} en undefined`)
    await strange
  })

  test('shares one rendering with readers of the same address', async () => {
    const host = await startCommentsHost()
    onTestFinished(() => host.close())
    host.render = async () => {
      while (host.requests.length < 3) await new Promise((resolve) => setImmediate(resolve))
      return 'Comments.'
    }
    await Promise.all([1, 2, 3].map(() => host.client.send('GET', CLEAN, { headers: READER })))
    expect(host.renders).toBe(1)
  })
})

describe('decision 84: an answer', () => {
  test.each(['&cpage=2', '&', '&_=1'])('to a request with more than post_id (%s) is for one reader', async (query) => {
    const host = await start()
    for (const path of [`${CLEAN}${query}`, `${CLEAN.replace('=1', '=999')}${query}`]) {
      expect((await host.client.send('GET', path)).headers['cache-control']).toBe('private, no-store')
    }
  })

  test('names every header from which host, protocol and language are read', async () => {
    const host = await start()
    const names = 'Accept-Encoding, Cookie, Accept-Language, X-Forwarded-Host, X-Forwarded-Proto, X-HOST-Nonce'
    expect((await host.client.send('GET', CLEAN)).headers.vary).toBe(names)
  })
})
