import { setTimeout as sleep } from 'node:timers/promises'
import type { Request } from 'express'
import { expect, onTestFinished, test } from 'vitest'
import type { RenderContext } from '../../../src/index.ts'
import { startCommentsHost, type TestPost } from '../../support/comments-host.ts'

const CLEAN = '/api/lazycomments/v1/comments?post_id=1'
const READER = { 'x-forwarded-host': 'blog.example', 'x-forwarded-proto': 'https', 'accept-language': 'en' }

/** Renders all that a theme can read of where and how it was asked. */
function renderComments(_post: TestPost, context: RenderContext): string {
  const request = context.request as Request
  const page = new URL(request.originalUrl, `${request.protocol}://${request.hostname}`)
  return `${page.href} ${request.acceptsLanguages('en', 'de')} ${request.query.cpage}`
}

const STRANGERS = [
  ['another page of the thread', '&cpage=2', {}],
  ['an empty parameter', '&', {}],
  ['another host', '', { 'x-forwarded-host': 'evil.example' }],
  ['another protocol', '', { 'x-forwarded-proto': 'http' }],
  ['another language', '', { 'accept-language': 'de' }],
] as const

// What a shared cache must tell apart is in `Vary`, which comments-route.test.ts holds.
test('decision 84: a stranger who asks for something else is never shared with, and more than post_id is for one', async () => {
  const rendered: string[] = []
  const theme = {
    async renderComments(post: TestPost, context: RenderContext) {
      while (host.requests.length < 2) await sleep(1)
      // Time for the other request to find this rendering.
      await sleep(10)
      rendered.push(renderComments(post, context))
      return renderComments(post, context)
    },
  }
  const host = await startCommentsHost({ theme, isBehindProxy: true })
  onTestFinished(() => host.close())
  const mine = `https://blog.example${CLEAN} en undefined`
  for (const [what, query, headers] of [...STRANGERS, ['the same', '', {}] as const]) {
    for (const list of [host.requests, rendered]) list.length = 0
    const strange = host.client.send('GET', `${CLEAN}${query}`, { headers: { ...READER, ...headers } })
    const reader = await host.client.send('GET', CLEAN, { headers: READER })
    const control = (await strange).headers['cache-control']
    if (query !== '') expect(control, what).toBe('private, no-store')
    expect([reader.json.html, rendered.length], what).toEqual([mine, what === 'the same' ? 1 : 2])
  }
})
