import { readFileSync } from 'node:fs'
import ejs from 'ejs'
import sanitizeHtml from 'sanitize-html'
import type { Comment, Post } from './posts.ts'

const write = ejs.compile(readFileSync(new URL('./views/comments/comment.ejs', import.meta.url), 'utf8'))
const written = new WeakMap<Comment, string>()
const threads = new WeakMap<Post, { comments: readonly Comment[]; html: string }>()

/** Writes the comments of a post. Done anew only when one has come or gone. */
export function threadHtml(post: Post, comments: readonly Comment[]): string {
  const known = threads.get(post)
  const isSame = known?.comments.length === comments.length && known.comments.every((one, at) => one === comments[at])
  if (known && isSame) return known.html
  const html = comments.map(commentHtml).join('')
  threads.set(post, { comments, html })
  return html
}

/** Writes one comment. Done once for each, since a comment never changes. */
function commentHtml(comment: Comment): string {
  const known = written.get(comment)
  if (known !== undefined) return known
  const { id, author, url, text } = comment
  const html = write({ id, author, url: webAddress(url), html: sanitizeHtml(text, MARKUP) })
  written.set(comment, html)
  return html
}

/** Gives back an absolute address of the web, spelled out; anything else is none. */
function webAddress(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}

const MARKUP: sanitizeHtml.IOptions = {
  allowedTags: ['a', 'em', 'strong', 'code', 'blockquote', 'p', 'br'],
  allowedAttributes: { a: ['href', 'rel'] },
  allowedSchemes: ['http', 'https'],
  // What is not markup here is text that somebody wrote, so it is shown.
  disallowedTagsMode: 'escape',
  transformTags: {
    a(tagName, { href }) {
      const address = webAddress(href)
      const attribs: sanitizeHtml.Attributes = address === undefined ? {} : { href: address, rel: 'nofollow ugc' }
      return { tagName, attribs }
    },
  },
}
