import { expect, test } from 'vitest'
import { COMMENT_DEFAULTS } from '../../../../src/features/comments/comment-settings.ts'
import { placeholder } from '../../../../src/features/comments/create-comments.ts'
import { consoleLogger } from '../../../../src/ground/logger.ts'
import type { Texts } from '../../../../src/index.ts'
import { createTextsFor } from '../../../../src/texts/texts-for.ts'
import { english } from '../../../support/english.ts'

const settings = { ...COMMENT_DEFAULTS, load_method: 'click' } as const
const parts = {
  postId: 7,
  postUrl: '/posts/7',
  source: '/api/lazycomments/v1/comments?post_id=7',
  nonce: undefined,
  nonceHeader: 'X-HOST-Nonce',
  settings,
  say: english,
}

test('rule 35: a placeholder holds a real link to the page with its comments', () => {
  expect(placeholder(parts)).toBe(
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

test('rule 35: the link keeps the query of the post and drops its hash', () => {
  expect(placeholder({ ...parts, postUrl: '/?p=7#top' })).toContain('href="/?p=7&amp;comments=all#comments"')
})

test.each(['javascript:alert(1)//', ' java\nscript:alert(1)//', 'data:text/html,x', 'http://'])(
  'the link leads to the page itself when the address of the post, %j, is none of the web',
  (postUrl) => {
    expect(placeholder({ ...parts, postUrl })).toContain('href="?comments=all#comments"')
  },
)

test('a signed-in reader finds a nonce and the name of its header', () => {
  expect(placeholder({ ...parts, nonce: 'abc' })).toContain(' data-nonce="abc" data-nonce-header="X-HOST-Nonce"')
  expect(placeholder(parts)).not.toContain('nonce')
})

test('the loader, the style and the classes follow the settings', () => {
  const html = placeholder({
    ...parts,
    settings: { ...settings, show_loader: false, button_style: 'custom', button_class: 'a b' },
  })
  expect(html).not.toContain('loader')
  expect(html).toContain('class="lazycomments-button lazycomments-custom a b"')
})

test('no text leaves its place, whatever is in it', () => {
  const evil = `"'><script>alert(1)</script>&`
  const html = placeholder({
    ...parts,
    postUrl: evil,
    source: evil,
    nonce: evil,
    settings: { ...settings, button_text: evil, button_class: evil },
  })
  expect(html.match(/<[a-z-]+/g)).toEqual(['<lazy-comments', '<span', '<span', '<a', '<span'])
  expect(html.match(/&lt;script&gt;/g)).toHaveLength(6)
})

test('rule 40: every sentence is in the language of the reader, and the label as long as nobody has set one', () => {
  const german: Texts = {
    comments_button: 'Kommentare laden',
    comments_loaded_one: '{count} Kommentar geladen',
    comments_loaded_other: '{count} Kommentare geladen',
    comments_lost: 'Nicht mehr da.',
    comments_stale: 'Laden Sie die Seite neu.',
    comments_failed: 'Laden fehlgeschlagen.',
    comments_failed_until: 'Wieder um {time}.',
    comments_retry: 'Noch einmal',
    comments_print: 'Kommentare: {url}',
  }
  const { say } = createTextsFor(german, consoleLogger)()
  const html = placeholder({ ...parts, say })
  for (const text of Object.values(german)) expect(html).toContain(text?.replace('{url}', '/posts/7?comments=all'))
  expect(html).not.toMatch(/comments? loaded|Load Comments|Try again/)
  const own = placeholder({ ...parts, say, settings: { ...settings, button_text: 'Show them' } })
  expect(own).toContain('>Show them</a>')
})
