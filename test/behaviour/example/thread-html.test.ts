import { expect, test } from 'vitest'
import { type Comment, createPosts, type Post } from '../../../examples/express-app/posts.ts'
import { threadHtml } from '../../../examples/express-app/thread-html.ts'

const post = createPosts().find(2) as Post

const comment = (more: Partial<Comment>): Comment => ({ id: 1, author: 'Ann', text: 'Hello.', approved: true, ...more })
const textOf = (text: string) =>
  /<div class="comment-text">(.*)<\/div>\n/s.exec(threadHtml(post, [comment({ text })]))?.[1]

test('a page shows a little markup of a comment and no more, and links the author to addresses of the web', () => {
  const markup = '<em>a</em> <strong>b</strong> <code>c</code> <blockquote>d</blockquote> <p>e</p>'
  const link = '<a href="https://a.example/?b=c&amp;d" rel="nofollow ugc">a</a>'
  for (const [text, expected] of [
    [markup, markup],
    ['1 < 2 & "3"', '1 &lt; 2 &amp; "3"'],
    ['<em>never closed', '<em>never closed</em>'],
    ['<b class="x">b</b>', '&lt;b&gt;b&lt;/b&gt;'],
    ['<script>x</script>', '&lt;script&gt;x&lt;/script&gt;'],
    ['<a href="https://a.example/?b=c&amp;d" target="_top" onclick="x">a</a>', link],
    ['<a href="javascript:x">a</a>', '<a>a</a>'],
    ['<a href="//evil.test/">a</a>', '<a>a</a>'],
    ['<a href="/logout">a</a>', '<a>a</a>'],
  ] as const) {
    expect(textOf(text)).toBe(expected)
  }
  for (const [url, href] of [
    ['https://ann.example/a b', 'https://ann.example/a%20b'],
    ['http://ann.example', 'http://ann.example/'],
    ['javascript:x', undefined],
    ['ann.example', undefined],
    [undefined, undefined],
  ]) {
    const name = href === undefined ? 'Ann &lt;3' : `<a href="${href}" rel="nofollow ugc">Ann &lt;3</a>`
    expect(threadHtml(post, [comment({ author: 'Ann <3', url })]), url).toContain(`<strong>${name}</strong>`)
  }
})

test('a comment that comes, goes, or takes the place of another shows at once', () => {
  const [first, second, third] = [1, 2, 3].map((id) => comment({ id, text: `Text ${id}.` })) as [
    Comment,
    Comment,
    Comment,
  ]
  const shown = (comments: Comment[]) => [...threadHtml(post, comments).matchAll(/Text \d/g)].map(String)
  expect(shown([first])).toEqual(['Text 1'])
  expect(shown([first, second])).toEqual(['Text 1', 'Text 2'])
  expect(shown([first, third])).toEqual(['Text 1', 'Text 3'])
  expect(shown([third])).toEqual(['Text 3'])
  expect(shown([])).toEqual([])
})
