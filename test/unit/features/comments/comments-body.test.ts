import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  type CommentsBody,
  commentsBodies,
  commentsBody,
} from '../../../../src/features/comments/rendering/comments-body.ts'

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
