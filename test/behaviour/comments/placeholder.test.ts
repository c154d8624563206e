import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createLazyComments } from '../../../src/comments.ts'
import { commentAssets } from '../../../src/features/comments/comments-routes.ts'
import type { Texts } from '../../../src/index.ts'

/** The placeholder of a post with this address. */
function placeholderOf(url = '/posts/7', options: object = {}, settings: Record<string, unknown> = {}) {
  const id = () => 7
  const posts = { id, find: () => 7, url: () => url, isPublic: () => true, countComments: () => 1 }
  const comments = createLazyComments({ host: { posts, theme: { renderComments: () => '' } }, ...options })
  return comments.settings.update({ load_method: 'click', ...settings }).then(() => comments.placeholder(7))
}

test('rule 35: a placeholder holds a real link to the page with its comments, and no nonce for a guest', async () => {
  expect(await placeholderOf()).toBe(
    '<lazy-comments id="comments" post="7" src="/api/lazycomments/v1/comments?post_id=7" method="click" loader=""' +
      ' data-done="{count} comments loaded" data-one="{count} comment loaded"' +
      ' data-lost="This comment no longer exists." data-stale="Reload this page to comment as yourself."' +
      ' data-error="Comments could not be loaded." data-later="Comments could not be loaded. Try again at {time}."' +
      ' data-retry="Try again"><span class="lazycomments-status" role="status"></span>' +
      '<span class="lazycomments-alert" role="alert"></span>' +
      '<a class="lazycomments-button" href="/posts/7?comments=all#comments">Load Comments</a>' +
      '<span class="lazycomments-print">Comments: /posts/7?comments=all#comments</span></lazy-comments>',
  )
})

test('rule 35: the link keeps the query of the post, drops its hash, and leads to no address outside the web', async () => {
  expect(await placeholderOf('/?p=7#top')).toContain('href="/?p=7&amp;comments=all#comments"')
  for (const url of ['javascript:alert(1)//', ' java\nscript:alert(1)//', 'data:text/html,x', 'http://']) {
    expect(await placeholderOf(url), url).toContain('href="?comments=all#comments"')
  }
})

test('method, loader, style, classes and label follow the settings', async () => {
  const look = { button_style: 'custom', button_class: 'a b', button_text: 'A & B' }
  const html = await placeholderOf('/posts/7', {}, { load_method: 'scroll', show_loader: false, ...look })
  expect(html).toContain(' method="scroll" data-done=')
  expect(html).toMatch(/<a class="lazycomments-button lazycomments-custom a b" [^>]*>A &amp; B<\/a>/)
})

test('no text leaves its place, whatever is in it', async () => {
  const evil = `"'><script>alert(1)</script>&`
  const texts = { comments_retry: evil, comments_button: evil, comments_print: `${evil}{url}` }
  const html = await placeholderOf(evil, { texts })
  expect(html.match(/<[a-z-]+/g)).toEqual(['<lazy-comments', '<span', '<span', '<a', '<span'])
  expect(html.match(/&lt;script&gt;/g)).toHaveLength(5)
})

test('rule 40: every sentence is in the language of the reader, and the label as long as nobody has set one', async () => {
  const names = ['button', 'loaded_one', 'loaded_other', 'lost', 'stale', 'failed', 'failed_until', 'retry', 'print']
  const texts: Texts = Object.fromEntries(names.map((name) => [`comments_${name}`, `Wort ${name}`]))
  const html = await placeholderOf('/posts/7', { texts })
  for (const name of names) expect(html).toContain(`Wort ${name}`)
  expect(html).not.toMatch(/comments? loaded|Load Comments|Try again/)
  expect(await placeholderOf('/posts/7', { texts }, { button_text: 'Show them' })).toContain('>Show them</a>')
})

test('the script and the style keep within their sizes, compressed', () => {
  for (const [name, limit] of [
    ['script', 2450],
    ['style', 550],
  ] as const) {
    const { text } = commentAssets[name]
    expect(text.length, name).toBeGreaterThan(100)
    expect(gzipSync(text, { level: 9 }).length, name).toBeLessThanOrEqual(limit)
  }
})
