import type { Block } from '../../../host/theme.ts'

const COMMENTS_BLOCKS = ['core/comments', 'core/post-comments']

/** Finds the comments block in a template, at any depth. Returns undefined if the template has no such block. */
export function findCommentsBlock(blocks: readonly Block[]): Block | undefined {
  for (const block of blocks) {
    if (COMMENTS_BLOCKS.includes(block.blockName ?? '')) return block
    const inner = findCommentsBlock(block.innerBlocks)
    if (inner) return inner
  }
  return undefined
}

/** Serializes a block with its inner blocks in the comment-delimited form of block themes. */
export function serializeBlock(block: Block): string {
  let next = 0
  const content = block.innerContent.map((piece) => {
    if (piece !== null) return piece
    const inner = block.innerBlocks[next]
    next += 1
    return inner ? serializeBlock(inner) : ''
  })
  if (block.blockName === null) return content.join('')
  const name = block.blockName.replace(/^core\//, '')
  const attributes = Object.keys(block.attrs).length > 0 ? `${serializeAttributes(block.attrs)} ` : ''
  if (block.innerContent.length === 0) return `<!-- wp:${name} ${attributes}/-->`
  return `<!-- wp:${name} ${attributes}-->${content.join('')}<!-- /wp:${name} -->`
}

/** Returns JSON that can neither end its HTML comment nor be read as markup. */
function serializeAttributes(attributes: Readonly<Record<string, unknown>>): string {
  const escapes: Record<string, string> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026', '--': '\\u002d\\u002d' }
  return JSON.stringify(attributes).replaceAll(/--|[<>&]/g, (match) => escapes[match] ?? match)
}
