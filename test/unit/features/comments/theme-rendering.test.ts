import { describe, expect, test } from 'vitest'
import { findCommentsBlock, serializeBlock } from '../../../../src/features/comments/theme-rendering.ts'
import type { Block } from '../../../../src/index.ts'

const block = (blockName: string | null, more: Partial<Block> = {}): Block => ({
  blockName,
  attrs: {},
  innerBlocks: [],
  innerHTML: '',
  innerContent: [],
  ...more,
})

describe('the comments block', () => {
  test('is found however deep it is nested', () => {
    const comments = block('core/comments')
    const deep = [1, 2, 3, 4].reduce(
      (inner) => block('core/group', { innerBlocks: [block('core/list'), inner] }),
      comments,
    )
    expect(findCommentsBlock([block('core/title'), deep])).toBe(comments)
  })

  test('may have its older name', () => {
    expect(findCommentsBlock([block('core/post-comments')])?.blockName).toBe('core/post-comments')
  })

  test('is the first of two', () => {
    const first = block('core/comments', { attrs: { first: true } })
    expect(findCommentsBlock([first, block('core/comments')])).toBe(first)
  })

  test('may be missing', () => {
    expect(findCommentsBlock([block(null), block('core/comments-title')])).toBeUndefined()
    expect(findCommentsBlock([])).toBeUndefined()
  })
})

describe('a serialised block', () => {
  test('that is empty closes itself', () => {
    expect(serializeBlock(block('core/comments-title'))).toBe('<!-- wp:comments-title /-->')
    expect(serializeBlock(block('mine/list', { attrs: { a: 1 } }))).toBe('<!-- wp:mine/list {"a":1} /-->')
  })

  test('has its inner blocks where the pieces of markup leave room', () => {
    const inner = [block('core/a'), block('core/b')]
    const outer = block('core/comments', { innerBlocks: inner, innerContent: ['<div>', null, '-', null, '</div>'] })
    expect(serializeBlock(outer)).toBe(
      '<!-- wp:comments --><div><!-- wp:a /-->-<!-- wp:b /--></div><!-- /wp:comments -->',
    )
  })

  test('without a name is its markup', () => {
    expect(serializeBlock(block(null, { innerContent: ['<p>Text</p>'] }))).toBe('<p>Text</p>')
  })

  test('keeps attributes that could end the comment, as JSON', () => {
    const attrs = { text: '--> <script>&amp;</script> --- "quoted"' }
    const text = serializeBlock(block('core/comments', { attrs }))
    const [, json = ''] = /^<!-- wp:comments (.*) \/-->$/.exec(text) ?? []
    expect(json).not.toMatch(/--|[<>&]/)
    expect(JSON.parse(json)).toEqual(attrs)
  })
})
