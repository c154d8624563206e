import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  type CommentsBody,
  canLazyLoad,
  commentsBodies,
  commentsBody,
} from '../../../../src/features/comments/comment-rendering.ts'
import { COMMENT_DEFAULTS } from '../../../../src/features/comments/comment-settings.ts'

const READER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'
const view = { single: true, count: 1, userAgent: READER as string | undefined }

test.each([
  ['a reader of a post with one comment', {}, {}, true],
  ['method click', { load_method: 'click' as const }, {}, true],
  ['method off', { load_method: 'off' as const }, {}, false],
  ['not a single post', {}, { single: false }, false],
  ['no comment', {}, { count: 0 }, false],
  ['no comment, and a minimum of 0 that got in somehow', { minimum_count: 0 }, { count: 0 }, false],
  ['one below the minimum', { minimum_count: 5 }, { count: 4 }, false],
  ['exactly the minimum', { minimum_count: 5 }, { count: 5 }, true],
  ['a search engine', {}, { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1)' }, false],
  ['a missing user agent', {}, { userAgent: undefined }, false],
  ['an empty user agent', {}, { userAgent: '' }, false],
  ['a blank user agent', {}, { userAgent: '  ' }, false],
  ['a bot where bots are welcome', { disable_for_bots: false }, { userAgent: 'Googlebot/2.1' }, true],
  ['nobody where bots are welcome', { disable_for_bots: false }, { userAgent: undefined }, true],
])('rules 30 and 31: %s', async (_name, settings, facts, expected) => {
  expect(await canLazyLoad({ ...COMMENT_DEFAULTS, ...settings }, { ...view, ...facts })).toBe(expected)
})

const expected = (html: string) => {
  const json = `{"html":${JSON.stringify(html)}}`
  return { json, etag: `"${createHash('sha256').update(json).digest('base64url')}"` }
}

const shown = ({ json, etag }: CommentsBody) => ({ json: json.toString(), etag })

test('a body is JSON with the markup, and a tag of it', () => {
  for (const html of ['', '<p>"ünï" 💬</p>\n', '\u2028</script>'])
    expect(shown(commentsBody(html))).toEqual(expected(html))
})

test('the body of a post is written once for the same markup, and anew for other markup, post by post', () => {
  const body = commentsBodies()
  const first = body(1, '<p>1</p>')
  expect(body(1, ['<p>', '1', '</p>'].join(''))).toBe(first)
  expect(shown(body(1, '<p>2</p>'))).toEqual(expected('<p>2</p>'))
  expect(body(1, '<p>1</p>')).toEqual(first)
  expect(shown(body(2, ''))).toEqual(expected(''))
  expect(shown(body(1, '<p>1</p>'))).toEqual(expected('<p>1</p>'))
})

test('more than 8,000,000 characters are not kept: the posts that have not changed for the longest time go', () => {
  const body = commentsBodies()
  const thread = (postId: number) => String(postId).repeat(3_000_000)
  const [first, second] = [body(1, thread(1)), body(2, thread(2))]
  expect([body(1, thread(1)) === first, body(2, thread(2)) === second]).toEqual([true, true])
  const third = body(3, thread(3))
  expect([body(2, thread(2)) === second, body(3, thread(3)) === third]).toEqual([true, true])
  expect(body(1, thread(1)) === first).toBe(false)
  expect(shown(body(4, 'x'.repeat(8_000_001)))).toEqual(expected('x'.repeat(8_000_001)))
  expect(body(5, 'short')).toBe(body(5, 'short'))
})
