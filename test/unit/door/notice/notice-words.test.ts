import { describe, expect, it } from 'vitest'
import type { EndedState } from '../../../../src/door/host-types.ts'
import { wordNotice } from '../../../../src/door/notice/tell-notice.ts'
import type { EndedKind, Texts } from '../../../../src/index.ts'
import { createTextsFor } from '../../../../src/texts/texts-for.ts'

const AT = Date.UTC(2026, 10, 21, 23, 4)
const MINUTE = 60_000

const texts = (replaced: Texts = {}) => createTextsFor(replaced, console)()
const ended = (kind: EndedKind, device: string | null = 'Chrome on Windows', note?: string): EndedState => ({
  reason: 'missing',
  cause: { kind, at: AT, device, ...(note !== undefined && { note }) },
})

const word = (state: EndedState, now = AT + 9 * MINUTE, securityUrl?: string) =>
  wordNotice(state, texts(), securityUrl, now)

describe('the notice to a user who was signed out', () => {
  it.each<[EndedKind, string, string]>([
    ['displaced', 'this account signed in on Chrome on Windows.', 'this account signed in somewhere else.'],
    ['never_used', 'this account signed in on Chrome on Windows.', 'this account signed in somewhere else.'],
    ['chosen', 'this session was chosen to make room for Chrome on Windows.', 'to make room for another device.'],
    ['idle', 'signed out to make room for Chrome on Windows', 'signed out to make room for another device'],
    ['user', 'You did that 9 minutes ago on Chrome on Windows.', 'You did that 9 minutes ago.'],
    ['admin', 'An administrator did that 9 minutes ago.', 'An administrator did that 9 minutes ago.'],
    ['app', 'That happened 9 minutes ago.', 'That happened 9 minutes ago.'],
    ['logout_all', 'That happened 9 minutes ago.', 'That happened 9 minutes ago.'],
  ])('says how a session ended: %s', (kind, known, unknown) => {
    expect(word(ended(kind)).text).toContain(known)
    expect(word(ended(kind, null)).text).toContain(unknown)
    expect(word(ended(kind)).text).toContain('9 minutes ago')
    expect(word(ended(kind))).toMatchObject({ reason: 'missing', cause: { kind }, at: '2026-11-21T23:04:00Z' })
    expect(word(ended(kind)).html).not.toContain('{')
  })

  it('has a title for everybody, for one, and for an end of which nothing is known', () => {
    expect(word(ended('displaced')).title).toBe('You were signed out on this device.')
    expect(word(ended('logout_all')).title).toBe('Everyone was signed out.')
    expect(word({ reason: 'logout_all' })).toMatchObject({
      title: 'Everyone was signed out.',
      text: 'Your session ended.',
    })
    expect(word({ reason: 'ended' })).toEqual({
      reason: 'ended',
      title: 'Please sign in again.',
      text: 'Your session ended.',
      html: '<div class="sessmgr-notice note" role="status"><strong>Please sign in again.</strong> Your session ended.</div>',
    })
  })

  it('advises where it may have been someone else, with a link if there is a page for it', () => {
    const advised = (['displaced', 'chosen', 'idle', 'user', 'admin', 'app', 'logout_all'] as const).filter(
      (kind) => word(ended(kind)).advice !== undefined,
    )
    expect(advised).toEqual(['displaced', 'chosen', 'user'])
    expect(word(ended('displaced'))).not.toHaveProperty('adviceUrl')
    const linked = word(ended('displaced'), AT, '/account?a=1&b=2')
    expect(linked.adviceUrl).toBe('/account?a=1&b=2')
    expect(linked.html).toContain('<a href="/account?a=1&amp;b=2">If that was not you, change your password now.</a>')
  })

  it('ends with the note of the application', () => {
    expect(word(ended('app', null, 'Bye.')).text).toBe('That happened 9 minutes ago. Bye.')
  })

  it('escapes what the application and the other side have written', () => {
    const { html, text } = word(ended('displaced', '<b>', '"<img onerror=x>'))
    expect(text).toContain('<b>')
    expect(html).toContain('<bdi>&lt;b&gt;</bdi>')
    expect(html).toContain('<bdi>&quot;&lt;img onerror=x&gt;</bdi>')
    expect(html).not.toMatch(/<b>|<img/)
  })

  it.each([
    [MINUTE, '1 minute ago'],
    [59 * MINUTE, '59 minutes ago'],
    [60 * MINUTE, '1 hour ago'],
    [25 * 60 * MINUTE, 'Yesterday'],
    [72 * 60 * MINUTE, '3 days ago'],
  ])('says after %d ms that it was %s, and when exactly', (ms, ago) => {
    const { text, html } = word(ended('displaced'), AT + ms)
    expect(text).toMatch(new RegExp(`^${ago}, `))
    expect(html).toContain(`<time datetime="2026-11-21T23:04:00Z" title="21 Nov 2026, 23:04 UTC">${ago}</time>`)
    expect(word(ended('admin'), AT + ms).text).toBe(`An administrator did that ${ago.toLowerCase()}.`)
  })

  it.each([-MINUTE, 0, MINUTE - 1])('says after %d ms that it was just now, and when exactly', (ms) => {
    const { text, html } = word(ended('displaced'), AT + ms)
    expect(text).toBe('Just now, this account signed in on Chrome on Windows.')
    expect(html).toContain('<time datetime="2026-11-21T23:04:00Z" title="21 Nov 2026, 23:04 UTC">Just now</time>')
    expect(word(ended('displaced', null), AT + ms).text).toBe('Just now, this account signed in somewhere else.')
    expect(word(ended('admin'), AT + ms).text).toBe('An administrator did that just now.')
  })

  it('speaks the language of its reader, whatever parts their sentence has', () => {
    const german = texts({ lang: 'de', notice_displaced: 'Um {time}, {ago}, auf {device}.' })
    const { text, html } = wordNotice(ended('displaced'), german, undefined, AT + 9 * MINUTE)
    expect(text).toBe('Um 21.11.2026, 23:04 UTC, vor 9 Minuten, auf Chrome on Windows.')
    expect(html).toContain('<time datetime="2026-11-21T23:04:00Z">21.11.2026, 23:04 UTC</time>')
  })

  it('falls back to English times for a language that is none', () => {
    const odd = texts({ lang: 'not a language' })
    expect(wordNotice(ended('admin'), odd, undefined, AT + MINUTE).text).toBe('An administrator did that 1 minute ago.')
  })

  it('says when an end happened that a newer release has noted', () => {
    expect(word(ended('moved' as EndedKind)).text).toBe('That happened 9 minutes ago.')
  })
})
