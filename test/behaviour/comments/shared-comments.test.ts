import { setTimeout as sleep } from 'node:timers/promises'
import type { Request } from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Theme } from '../../../src/index.ts'
import { startCommentsHost, type TestPost } from '../../support/comments-host.ts'
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
  ['another host', '', { 'x-forwarded-host': 'evil.example' }],
  ['another protocol', '', { 'x-forwarded-proto': 'http' }],
  ['another language', '', { 'accept-language': 'de' }],
] as const

async function start(given: Theme<TestPost> = theme) {
  const host = await startCommentsHost({ theme: given, isBehindProxy: true })
  onTestFinished(() => host.close())
  return host
}

describe('decision 84: a reader without a cookie', () => {
  test('gets the same comments from a shared cache after a stranger has asked for something else', async () => {
    for (const [what, query, headers] of STRANGERS) {
      const host = await start()
      const expected = (await host.client.send('GET', CLEAN, { headers: READER })).text
      const cache = new RestClient(await startSharedCache(host.origin))
      const strange = await cache.send('GET', `${CLEAN}${query}`, { headers: { ...READER, ...headers } })
      if (query !== '') expect(strange.headers['cache-control'], what).toBe('private, no-store')
      const reader = await cache.send('GET', CLEAN, { headers: READER })
      const next = await cache.send('GET', CLEAN, { headers: READER })
      expect([reader.text, next.text, next.headers['x-cache']], what).toEqual([expected, expected, 'hit'])
      if (strange.status === 200) expect(strange.text, what).not.toBe(expected)
    }
  })

  test('never shares the rendering of a stranger who asks for something else, but that of the same address', async () => {
    const rendered: string[] = []
    const host = await start({
      renderComments: async (post, context) => {
        while (host.requests.length < 2) await sleep(1)
        // Time for the other request to find this rendering.
        await sleep(10)
        const text = 'renderComments' in theme ? await theme.renderComments(post, context) : ''
        rendered.push(text)
        return text
      },
    })
    const mine = `https://blog.example${CLEAN} en undefined`
    for (const [what, query, headers] of [...STRANGERS, ['the same', '', {}] as const]) {
      for (const list of [host.requests, rendered]) list.length = 0
      const strange = host.client.send('GET', `${CLEAN}${query}`, { headers: { ...READER, ...headers } })
      const reader = await host.client.send('GET', CLEAN, { headers: READER })
      await strange
      expect([reader.json.html, rendered.length], what).toEqual([mine, what === 'the same' ? 1 : 2])
    }
  })
})
