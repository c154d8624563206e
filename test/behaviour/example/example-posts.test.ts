import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { ExampleApp } from '../../support/example-app.ts'

let example: ExampleApp
beforeAll(async () => {
  example = await ExampleApp.start({ SESSMGR_MAXIMUM: '1000' })
})
afterAll(() => example.stop())

function commentIds(html: string): string[] {
  return [...html.matchAll(/ id="(comment-\d+)"/g)].map(([, id]) => String(id))
}

async function post(browser: Browser, id: number | string) {
  const { status, text } = await browser.get(`/posts/${id}?comments=all`)
  const ids = commentIds(text)
  return {
    status,
    comments: ids.length,
    distinct: new Set(ids).size,
    area: text.includes('id="comments"'),
    form: text.includes('id="respond"'),
  }
}

const open = (comments: number) => ({ status: 200, comments, distinct: comments, area: true, form: true })
const MISSING = { status: 404, comments: 0, distinct: 0, area: false, form: false }

describe('a post', () => {
  test('shows its approved comments and a form, unless it is locked, closed, hidden or none', async () => {
    for (const [what, id, expected] of [
      ['20 approved comments; the pending ones stay hidden', 1, open(20)],
      ['no comment yet', 2, open(0)],
      ['a draft', 3, MISSING],
      ['a private one', 4, MISSING],
      ['one behind a password', 5, { ...MISSING, status: 200 }],
      ['block theme', 6, open(5)],
      ['comments are closed', 7, { ...open(4), form: false }],
      ['a thousand comments', 8, open(1000)],
      ['none', 9, MISSING],
      ['no number', 'one', MISSING],
    ] as const) {
      expect(await post(example.browser(), id), what).toEqual(expected)
    }
  })

  test('that is a draft or private shows itself to the administrator alone', async () => {
    const admin = await example.signedIn('admin')
    const editor = await example.signedIn('carol')
    for (const id of [3, 4]) {
      expect((await post(admin, id)).status).toBe(200)
      expect((await post(editor, id)).status).toBe(404)
    }
  })

  test('behind a password opens with it, for this visitor', async () => {
    const visitor = example.browser()
    const wrong = await visitor.post('/posts/5/password', { password: 'wrong' })
    expect([wrong.status, wrong.text]).toEqual([403, expect.stringContaining('This is not the password of this post.')])
    expect((await post(visitor, 5)).comments).toBe(0)
    const answer = await visitor.post('/posts/5/password', { password: 'open-sesame' })
    expect([answer.status, answer.location]).toEqual([302, '/posts/5'])
    expect(await post(visitor, 5)).toEqual(open(3))
    expect((await post(example.browser(), 5)).comments).toBe(0)
  })

  test('is on the front page only when it is published', async () => {
    const { status, text } = await example.browser().get('/')
    expect(status).toBe(200)
    const listed = [...text.matchAll(/href="\/posts\/(\d+)"/g)].map(([, id]) => Number(id))
    expect(listed.toSorted((a, b) => a - b)).toEqual([1, 2, 5, 6, 7, 8])
  })
})

describe('a comment', () => {
  test('of a guest carries the name that they gave, and is escaped', async () => {
    const guest = example.browser()
    const answer = await guest.post('/posts/2/comments', { author: 'Ann <b>', text: '<script>alert(1)</script>' })
    expect(answer.status).toBe(302)
    const [, id] = /^\/posts\/2#(comment-\d+)$/.exec(answer.location ?? '') ?? []
    const { text } = await guest.get('/posts/2?comments=all')
    expect(commentIds(text)).toContain(id)
    expect(text).toContain('Ann &lt;b&gt;')
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(text).not.toContain('<script>alert')
  })

  test('of a user carries their name', async () => {
    const alice = await example.signedIn('alice')
    const answer = await alice.post('/posts/6/comments', { text: 'Well put.', author: 'Somebody else' })
    expect(answer.status).toBe(302)
    const { text } = await alice.get('/posts/6?comments=all')
    expect(text).toMatch(/<strong>Alice<\/strong>\s*<div class="comment-text">Well put\.<\/div>/)
    expect(text).not.toContain('Somebody else')
  })

  test('is refused without text or name, where it is not allowed, and in a shape that no browser sends', async () => {
    for (const [id, form, status] of [
      [2, { author: 'Ann', text: ' ' }, 400],
      [2, { text: 'Hello.' }, 400],
      [7, { author: 'Ann', text: 'Hello.' }, 400],
      [5, { author: 'Ann', text: 'Hello.' }, 400],
      [3, { author: 'Ann', text: 'Hello.' }, 404],
    ] as const) {
      expect((await example.browser().post(`/posts/${id}/comments`, form)).status, `post ${id}`).toBe(status)
    }
    for (const [path, type, body, status] of [
      ['/posts/1/comments', 'text/plain', null, 400],
      ['/posts/1/comments', 'text/plain', 'text', 400],
      ['/posts/1/comments', 'application/json', '{"author":{"toString":1},"text":["x"]}', 400],
      ['/posts/5/password', 'text/plain', null, 403],
    ] as const) {
      const headers = { 'Content-Type': type }
      const answer = await fetch(`${example.origin}${path}`, { method: 'POST', redirect: 'manual', headers, body })
      expect(answer.status, `${path} with ${body}`).toBe(status)
    }
    expect((await example.browser().get('/nowhere')).status).toBe(404)
  })
})
