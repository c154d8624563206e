import { expect, test } from 'vitest'
import { COMMENT_DEFAULTS } from '../../../../src/features/comments/comment-settings.ts'
import { canLazyLoad } from '../../../../src/features/comments/rendering/eligibility.ts'

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
