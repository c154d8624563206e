import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commentsBodies } from '../../../src/features/comments/comment-rendering.ts'
import { findCommentsBlock, serializeBlock } from '../../../src/features/comments/theme-rendering.ts'
import { type Block, memoryStore, type SessmgrStore } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { type CountingTheme, countingTheme } from '../../support/block-theme.ts'
import { type CommentsHost, startCommentsHost, type TestPost } from '../../support/comments-host.ts'
import { createGate } from '../../support/gates.ts'

const WEEK_MS = 7 * 24 * 60 * 60_000
const READER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36' }

describe('rule 32: the block cache', () => {
  let theme: CountingTheme
  let host: CommentsHost
  const start = async (store: SessmgrStore = memoryStore()) => {
    host = await startCommentsHost({ store, theme })
  }
  beforeEach(() => {
    theme = countingTheme()
  })
  afterEach(() => host.close())

  async function fetched(): Promise<string> {
    const { status, json } = await host.client.send('GET', '/api/lazycomments/v1/comments?post_id=1')
    expect(status).toBe(200)
    return json.html
  }

  test('gives the same markup cold and warm, also inline, keeps the block alone, and shows a new comment at once', async () => {
    await start()
    const cold = await fetched()
    expect(cold).toContain('Voice 20.')
    // The response does not wait until the block is stored.
    const block = '<!-- wp:comments {"theme":"first"} --><!-- wp:comment-template /--><!-- /wp:comments -->'
    await expect.poll(() => host.comments.cache.get(1)).toBe(block)
    expect([await fetched(), await fetched()]).toEqual([cold, cold])
    const inline = await host.client.send('GET', '/posts/1?comments=all', { headers: READER })
    expect(inline.text).toContain(cold)
    expect(theme.parsed).toBe(1)
    host.posts.set(1, { ...(host.posts.get(1) as TestPost), comments: ['Brand new.'] })
    expect(await fetched()).toContain('Brand new.')
    expect(theme.parsed).toBe(1)
  })

  test('shows another theme once it is told, also of a theme that is switched while its template is read', async () => {
    await start()
    const { template } = theme
    const gate = createGate()
    Object.assign(theme, {
      template: async (post: TestPost) => {
        const blocks = await template(post)
        await gate.pass()
        return blocks
      },
    })
    const first = fetched()
    await gate.arrived
    Object.assign(theme, { template, name: 'second' })
    await host.comments.themeSwitched()
    gate.open()
    expect(await first).toContain('"theme":"first"')
    const second = await fetched()
    expect(second).toContain('"theme":"second"')
    await expect.poll(() => host.comments.cache.get(1)).toContain('second')
    theme.name = 'third'
    expect(await fetched(), 'before it is told').toBe(second)
    await host.comments.themeSwitched()
    expect(await host.comments.cache.get(1)).toBe(false)
    expect(await fetched()).toContain('"theme":"third"')
  })

  test('keeps a block, empty or not, for seven days exactly, for its post alone', async () => {
    const clock = fakeClock()
    await start(memoryStore({ clock }))
    const { cache } = host.comments
    const block = '<!-- wp:comments {"a":"\\u002d\\u002d ünï 💬"} -->\n<div> </div><!-- /wp:comments -->'
    await cache.set(1, block)
    await cache.set(2, '')
    expect([await cache.get(1), await cache.get(2), await cache.get(3)]).toEqual([block, '', false])
    clock.advance(WEEK_MS - 1)
    expect(await cache.get(1)).toBe(block)
    clock.advance(1)
    expect(await cache.get(1)).toBe(false)
  })

  test('is not asked while it is switched off', async () => {
    const store = memoryStore()
    let calls = 0
    const { get } = store.transients
    store.transients.get = (name) => {
      calls += 1
      return get.call(store.transients, name)
    }
    await start(store)
    await host.comments.settings.set('cache_enabled', false)
    expect(await fetched()).toBe(await fetched())
    expect([theme.parsed, calls]).toEqual([2, 0])
    await host.comments.settings.set('cache_enabled', true)
    await fetched()
    expect(calls).toBe(1)
  })
})

const block = (blockName: string | null, more: Partial<Block> = {}): Block => ({
  blockName,
  attrs: {},
  innerBlocks: [],
  innerHTML: '',
  innerContent: [],
  ...more,
})

test('the comments block is the first of either name, however deep it is nested; a template may have none', () => {
  const [first, older] = [block('core/comments', { attrs: { first: true } }), block('core/post-comments')]
  const nest = (inner: Block) => block('core/group', { innerBlocks: [block('core/list'), inner] })
  expect(findCommentsBlock([block('core/title'), nest(nest(nest(first))), older])).toBe(first)
  expect(findCommentsBlock([older, first])).toBe(older)
  expect(findCommentsBlock([block(null), block('core/comments-title')])).toBeUndefined()
})

test('a block is serialised with its inner blocks and attributes, none of which can end the comment', () => {
  expect(serializeBlock(block('core/comments-title'))).toBe('<!-- wp:comments-title /-->')
  expect(serializeBlock(block('mine/list', { attrs: { a: 1 } }))).toBe('<!-- wp:mine/list {"a":1} /-->')
  expect(serializeBlock(block(null, { innerContent: ['<p>Text</p>'] }))).toBe('<p>Text</p>')
  const innerBlocks = [block('core/a'), block('core/b')]
  const outer = block('core/comments', { innerBlocks, innerContent: ['<div>', null, '-', null, '</div>'] })
  const expected = '<!-- wp:comments --><div><!-- wp:a /-->-<!-- wp:b /--></div><!-- /wp:comments -->'
  expect(serializeBlock(outer)).toBe(expected)
  const attrs = { text: '--> <script>&amp;</script> --- "quoted"' }
  const text = serializeBlock(block('core/comments', { attrs }))
  const [, json = ''] = /^<!-- wp:comments (.*) \/-->$/.exec(text) ?? []
  expect(json).not.toMatch(/--|[<>&]/)
  expect(JSON.parse(json)).toEqual(attrs)
})

test('bodies are kept by their markup, up to 8,000,000 characters: those unchanged for the longest time go', () => {
  const body = commentsBodies()
  const thread = (postId: number) => body(postId, String(postId).repeat(3_000_000))
  const [first, second, third] = [thread(1), thread(2), thread(3)]
  expect([thread(2) === second, thread(3) === third, thread(1) === first]).toEqual([true, true, false])
  expect(body(4, 'x'.repeat(8_000_001)).json).toHaveLength(8_000_012)
  expect(String(body(5, '"ünï"\u2028').json)).toBe('{"html":"\\"ünï\\"\u2028"}')
})
