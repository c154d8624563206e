import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Comment, createPosts, type Post } from '../../../examples/express-app/posts.ts'
import { threadHtml } from '../../../examples/express-app/thread-html.ts'
import type { Browser } from '../../support/browser.ts'
import { ExampleApp } from '../../support/example-app.ts'

let example: ExampleApp
beforeAll(async () => {
  example = await ExampleApp.start({ SESSMGR_MAXIMUM: '1000' })
})
afterAll(() => example.stop())

async function post(browser: Browser, id: number | string) {
  const { status, text } = await browser.get(`/posts/${id}?comments=all`)
  const ids = [...text.matchAll(/ id="(comment-\d+)"/g)].map(([, comment]) => comment)
  return [status, new Set(ids).size, text.includes('id="respond"')]
}

test('a post shows its approved comments and a form, unless it is locked, closed, hidden or none', async () => {
  for (const [what, id, ...expected] of [
    ['20 approved comments; the pending ones stay hidden', 1, 200, 20, true],
    ['a draft', 3, 404, 0, false],
    ['a private one', 4, 404, 0, false],
    ['comments are closed', 7, 200, 4, false],
    ['no number', 'one', 404, 0, false],
  ] as const) {
    expect(await post(example.browser(), id), what).toEqual(expected)
  }
  const [admin, editor] = [await example.signedIn('admin'), await example.signedIn('carol')]
  for (const id of [3, 4]) {
    expect([(await post(admin, id))[0], (await post(editor, id))[0]], 'a draft, or private').toEqual([200, 404])
  }
  const { text } = await example.browser().get('/')
  const listed = [...text.matchAll(/href="\/posts\/(\d+)"/g)].map(([, id]) => Number(id))
  expect(listed.toSorted((a, b) => a - b)).toEqual([1, 2, 5, 6, 7, 8])
})

test('a post behind a password opens with it, for this visitor', async () => {
  const visitor = example.browser()
  const wrong = await visitor.post('/posts/5/password', { password: 'wrong' })
  expect([wrong.status, await post(visitor, 5)]).toEqual([403, [200, 0, false]])
  const answer = await visitor.post('/posts/5/password', { password: 'open-sesame' })
  expect([answer.status, answer.location]).toEqual([302, '/posts/5'])
  expect([await post(visitor, 5), await post(example.browser(), 5)]).toEqual([
    [200, 3, true],
    [200, 0, false],
  ])
})

test('a comment carries the name of its guest, escaped, and is refused where or what it must not be', async () => {
  const guest = example.browser()
  const answer = await guest.post('/posts/2/comments', { author: 'Ann <b>', text: '<script>alert(1)</script>' })
  expect([answer.status, answer.location]).toEqual([302, expect.stringMatching(/^\/posts\/2#comment-\d+$/)])
  const { text } = await guest.get('/posts/2?comments=all')
  for (const part of ['Ann &lt;b&gt;', '&lt;script&gt;alert(1)&lt;/script&gt;']) expect(text).toContain(part)
  expect(text).not.toContain('<script>alert')

  for (const [id, form, status] of [
    [2, { author: 'Ann', text: ' ' }, 400],
    [2, { text: 'Hello.' }, 400],
    [7, { author: 'Ann', text: 'Hello.' }, 400],
    [5, { author: 'Ann', text: 'Hello.' }, 400],
    [3, { author: 'Ann', text: 'Hello.' }, 404],
  ] as const) {
    expect((await guest.post(`/posts/${id}/comments`, form)).status, `post ${id}`).toBe(status)
  }
  const headers = { 'Content-Type': 'application/json' }
  const body = '{"author":{"toString":1},"text":["x"]}'
  expect((await fetch(`${example.origin}/posts/1/comments`, { method: 'POST', headers, body })).status).toBe(400)
})

test('a comment may have a little markup and no more, and links its author to addresses of the web', () => {
  const empty = createPosts().find(2) as Post
  const comment = { id: 1, author: 'Ann <3', text: 'Hello.', approved: true }
  const thread = (more: Partial<Comment>) => threadHtml(empty, [{ ...comment, ...more }])
  const markup = '<em>a</em> <strong>b</strong> <code>c</code> <blockquote>d</blockquote> <p>e</p>'
  const link = '<a href="https://a.example/?b=c&amp;d" rel="nofollow ugc">a</a>'
  for (const [text, expected] of [
    [markup, markup],
    ['1 < 2 & "3"', '1 &lt; 2 &amp; "3"'],
    ['<em>never closed', '<em>never closed</em>'],
    ['<b class="x">b</b>', '&lt;b&gt;b&lt;/b&gt;'],
    ['<a href="https://a.example/?b=c&amp;d" target="_top" onclick="x">a</a>', link],
    ['<a href="javascript:x">a</a>', '<a>a</a>'],
    ['<a href="//evil.test/">a</a>', '<a>a</a>'],
  ] as const) {
    expect(thread({ text })).toContain(`<div class="comment-text">${expected}</div>\n`)
  }
  const named = '<a href="https://ann.example/a%20b" rel="nofollow ugc">Ann &lt;3</a>'
  expect(thread({ url: 'https://ann.example/a b' })).toContain(`<strong>${named}</strong>`)
  for (const url of ['javascript:x', 'ann.example', undefined]) {
    expect(thread({ url }), url).toContain('<strong>Ann &lt;3</strong>')
  }
})
