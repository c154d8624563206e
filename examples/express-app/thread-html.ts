import { readFileSync } from 'node:fs'
import ejs from 'ejs'
import sanitizeHtml from 'sanitize-html'
import type { Comment, Post } from './posts.ts'

const write = ejs.compile(readFileSync(new URL('./views/comments/comment.ejs', import.meta.url), 'utf8'))
const written = new WeakMap<Comment, string>()
const threads = new WeakMap<Post, { comments: readonly Comment[]; html: string }>()

/** Renders the comments of a post. Caches the result until a comment is added or removed. */
export function threadHtml(post: Post, comments: readonly Comment[]): string {
  const known = threads.get(post)
  const isSame = known?.comments.length === comments.length && known.comments.every((one, at) => one === comments[at])
  if (known && isSame) return known.html
  const html = comments.map(commentHtml).join('')
  threads.set(post, { comments, html })
  return html
}

/** Renders one comment. Caches the result, because comments never change. */
function commentHtml(comment: Comment): string {
  const known = written.get(comment)
  if (known !== undefined) return known
  const { id, author, url, text } = comment
  const html = write({ id, author, url: webAddress(url), html: sanitizeHtml(text, MARKUP) })
  written.set(comment, html)
  return html
}

/** Returns an absolute web URL in its full form, or undefined for anything else. */
function webAddress(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}

const MARKUP: sanitizeHtml.IOptions = {
  allowedTags: ['a', 'em', 'strong', 'code', 'blockquote', 'p', 'br'],
  allowedAttributes: { a: ['href', 'rel'] },
  allowedSchemes: ['http', 'https'],
  // Markup that is not allowed may be meant as text, so it is shown as text.
  disallowedTagsMode: 'escape',
  transformTags: {
    a(tagName, { href }) {
      const address = webAddress(href)
      const attribs: sanitizeHtml.Attributes = address === undefined ? {} : { href: address, rel: 'nofollow ugc' }
      return { tagName, attribs }
    },
  },
}
