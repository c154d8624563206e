import { fileURLToPath } from 'node:url'
import ejs from 'ejs'
import type { Block, BlockTheme, ClassicTheme, RenderContext } from 'sessmgr'
import type { Post } from './posts.ts'
import { threadHtml } from './thread-html.ts'
import type { Users } from './users.ts'

const view = (name: string) => fileURLToPath(new URL(`./views/comments/${name}.ejs`, import.meta.url))

/** Returns a function that finds a post's theme. One theme renders comments itself, the other is made of blocks. */
export function createThemes(users: Pick<Users, 'findById'>): (post: Post) => ClassicTheme<Post> | BlockTheme<Post> {
  const render = (name: string, post: Post, { userId }: RenderContext): Promise<string> =>
    ejs.renderFile(
      view(name),
      {
        post,
        user: userId === undefined ? undefined : users.findById(Number(userId)),
        comments: post.comments.filter(({ approved }) => approved),
        threadHtml,
      },
      { cache: true },
    )

  const classic: ClassicTheme<Post> = { renderComments: (post, context) => render('all', post, context) }
  const block: BlockTheme<Post> = {
    template: () => TEMPLATE,
    async renderBlock(serialized, post, context) {
      const names = [...serialized.matchAll(/<!-- wp:([a-z-]+) (?:\{.*?\} )?\/-->/g)].map(([, name]) => name)
      const parts = names.map((name) => (name && name in PARTS ? render(PARTS[name] as string, post, context) : ''))
      return `<section id="comments">${(await Promise.all(parts)).join('')}</section>`
    },
  }
  return (post) => (post.theme === 'block' ? block : classic)
}

/** The view that renders each block. */
const PARTS: Record<string, string> = {
  'comments-title': 'title',
  'comment-template': 'list',
  'post-comments-form': 'form',
}

const leaf = (blockName: string): Block => ({ blockName, attrs: {}, innerBlocks: [], innerHTML: '', innerContent: [] })

function nest(blockName: string, tag: string, innerBlocks: readonly Block[]): Block {
  const innerContent = [`<${tag}>`, ...innerBlocks.map(() => null), `</${tag}>`]
  return { blockName, attrs: {}, innerBlocks, innerHTML: `<${tag}></${tag}>`, innerContent }
}

/** Template of a post in the block theme. */
const TEMPLATE: readonly Block[] = [
  nest('core/group', 'main', [
    leaf('core/post-title'),
    leaf('core/post-content'),
    nest('core/comments', 'div', [
      leaf('core/comments-title'),
      leaf('core/comment-template'),
      leaf('core/post-comments-form'),
    ]),
  ]),
]
