import type { Block, BlockTheme } from '../../src/index.ts'
import { type TestPost, threadOf } from './comments-host.ts'

const block = (blockName: string, innerBlocks: readonly Block[] = []): Block => ({
  blockName,
  attrs: {},
  innerBlocks,
  innerHTML: '',
  innerContent: innerBlocks.map(() => null),
})

/** A theme made of blocks that counts how often its template is read. */
export interface CountingTheme extends BlockTheme<TestPost> {
  parsed: number
  /** Appears in the comments block, and so in the markup. */
  name: string
}

/** Creates the theme. */
export function countingTheme(): CountingTheme {
  const theme: CountingTheme = {
    parsed: 0,
    name: 'first',
    template: () => {
      theme.parsed += 1
      const comments = { ...block('core/comments', [block('core/comment-template')]), attrs: { theme: theme.name } }
      return [block('core/group', [block('core/post-content'), comments])]
    },
    renderBlock: (serialized, post) => `${serialized}${threadOf(post)}`,
  }
  return theme
}
