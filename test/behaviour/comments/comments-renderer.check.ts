import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CommentsHost, startCommentsHost, type TestPost, threadOf } from '../../support/comments-host.ts'

const PATH = '/api/lazycomments/v1/comments'

let host: CommentsHost
beforeEach(async () => {
  host = await startCommentsHost({ deadlineMs: 1000 })
})
afterEach(() => host.close())

const get = (query: string) => host.client.send('GET', `${PATH}${query}`)

describe('the renderer', () => {
  test('renders once for 1,000 parallel requests of one cold post', async () => {
    await host.close()
    host = await startCommentsHost({ deadlineMs: 20_000 })
    // Ends only when every request is there.
    host.render = async (post) => {
      while (host.requests.length < 1000) await new Promise((resolve) => setTimeout(resolve, 10))
      return threadOf(post)
    }
    const wide = Array.from({ length: 1000 }, () => fetch(`${host.origin}${PATH}?post_id=1`).then((one) => one.text()))
    const texts = await Promise.all(wide)
    expect(new Set(texts).size).toBe(1)
    expect(host.renders).toBe(1)
  })

  test('renders for each language by itself, also for readers who ask at the same moment', async () => {
    await host.close()
    host = await startCommentsHost({ deadlineMs: 20_000 })
    host.render = async (post) => {
      while (host.requests.length < 4) await new Promise((resolve) => setTimeout(resolve, 5))
      return threadOf(post)
    }
    const languages = ['de', 'fr', 'de', 'fr']
    const ask = (language: string) =>
      fetch(`${host.origin}${PATH}?post_id=1`, { headers: { 'Accept-Language': language } })
    await Promise.all(languages.map(ask))
    expect(host.renders).toBe(2)
  })

  test('that throws gives 500 in the error shape, tells no reason, and the next request works', async () => {
    host.render = () => Promise.reject(new Error('a secret reason'))
    const { status, json, text, headers } = await get('?post_id=1')
    expect([status, json.code, json.data]).toEqual([500, 'rest_internal_error', { status: 500 }])
    expect(text).not.toContain('secret')
    expect(headers['cache-control']).toBe('no-store')
    host.render = threadOf
    expect((await get('?post_id=1')).status).toBe(200)
  })

  test.each([null, 5, ['x'], { html: 'x' }, Buffer.from('x'), new String('x')])(
    'that gives %j instead of a text gives 500, tells the log, and the next request works',
    async (given) => {
      for (const spoil of [
        () => {
          host.render = () => given as never
        },
        () => host.limiter.hooks.addFilter('lazycomments_rendered_html', 'test', () => given as never),
      ]) {
        spoil()
        const { status, json } = await get('?post_id=1')
        expect([status, json.code]).toEqual([500, 'rest_internal_error'])
        expect(JSON.stringify(host.logs.at(-1))).toContain('must return the comments markup as a string')
        host.render = threadOf
        host.limiter.hooks.removeFilter('lazycomments_rendered_html', 'test')
        expect((await get('?post_id=1')).json).toEqual({ html: threadOf(host.posts.get(1) as TestPost) })
      }
    },
  )

  test('that fails while 200 requests wait for it is asked once, tells them all, and is asked again', async () => {
    await host.close()
    host = await startCommentsHost({ deadlineMs: 20_000 })
    host.render = async () => {
      while (host.requests.length < 200) await new Promise((resolve) => setTimeout(resolve, 5))
      throw new Error('broken')
    }
    const url = `${host.origin}${PATH}?post_id=2`
    const failing = await Promise.all(Array.from({ length: 200 }, () => fetch(url).then(({ status }) => status)))
    expect([new Set(failing), host.renders]).toEqual([new Set([500]), 1])
    host.render = threadOf
    expect((await get('?post_id=2')).status).toBe(200)
  })

  test('that never answers gives 503 within the deadline, and the post recovers with it', async () => {
    host.render = () => new Promise(() => {})
    const { status, json, headers } = await get('?post_id=1')
    expect([status, json.data, headers['retry-after']]).toEqual([503, { status: 503 }, '2'])
    host.render = threadOf
    expect((await get('?post_id=1')).status).toBe(200)
  })

  test('has its markup changed by the filter, which is given the post', async () => {
    host.limiter.hooks.addFilter(
      'lazycomments_rendered_html',
      'test',
      (_html, post) => `post ${(post as { id: number }).id}`,
    )
    expect((await get('?post_id=2')).json).toEqual({ html: 'post 2' })
  })
})
