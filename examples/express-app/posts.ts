import type { Request } from 'express'

declare module 'express-session' {
  interface SessionData {
    /** Posts whose password was entered in this browser. */
    openPosts: number[]
  }
}

/** A comment on a post. */
export interface Comment {
  readonly id: number
  readonly author: string
  /** URL of the author's own site, as entered. */
  readonly url?: string | undefined
  /** May contain markup, which `threadHtml` sanitizes. */
  readonly text: string
  readonly approved: boolean
}

/** A post of the demo blog. */
export interface Post {
  id: number
  title: string
  body: string
  status: 'published' | 'draft' | 'private'
  theme: 'classic' | 'block'
  password?: string
  commentsOpen: boolean
  comments: Comment[]
}

/** Stores the posts of the demo. */
export interface Posts {
  all(): readonly Post[]
  find(id: number): Post | undefined
  /** Adds an approved comment and returns it. */
  addComment(post: Post, author: string, text: string, url?: string): Comment
}

/** Checks whether a post has a password that was not entered in this browser. */
export function isLocked(request: Request, post: Post): boolean {
  return post.password !== undefined && !request.session.openPosts?.includes(post.id)
}

/** Creates the demo's posts. */
export function createPosts(): Posts {
  let lastCommentId = 0

  function comments(count: number, approved = true): Comment[] {
    return Array.from({ length: count }, (_, index) => {
      lastCommentId += 1
      const author = READERS[index % READERS.length] ?? 'Reader'
      return {
        id: lastCommentId,
        author,
        url: author === 'Mira' ? 'https://mira.example/' : undefined,
        text: `${REMARKS[index % REMARKS.length]} (${index + 1})`,
        approved,
      }
    })
  }

  const posts: Post[] = [
    { ...post(1, 'Twenty voices'), comments: [...comments(20), ...comments(2, false)] },
    post(2, 'Nobody has said anything yet'),
    { ...post(3, 'Not finished'), status: 'draft' },
    { ...post(4, 'For our eyes only'), status: 'private' },
    { ...post(5, 'Behind a password'), password: 'open-sesame', comments: comments(3) },
    { ...post(6, 'Made of blocks'), theme: 'block', comments: comments(5) },
    { ...post(7, 'The discussion is over'), commentsOpen: false, comments: comments(4) },
    { ...post(8, 'A thousand opinions'), comments: comments(1000) },
  ]
  const byId = new Map(posts.map((entry) => [entry.id, entry]))

  return {
    all: () => posts,
    find: (id) => byId.get(id),
    addComment(target, author, text, url) {
      lastCommentId += 1
      const comment = { id: lastCommentId, author, url, text, approved: true }
      target.comments.push(comment)
      return comment
    },
  }
}

const READERS = ['Ines', 'Jonas', 'Mira', 'Tariq', 'Yuki', 'Olu']
const REMARKS = [
  'I had been looking for exactly this.',
  'The <em>second</em> paragraph deserves a post of its own.',
  'I see it differently, but this was worth reading.',
  'Does it hold for larger sites too?',
  'Thank you for writing it down.',
]

function post(id: number, title: string): Post {
  const body =
    'A post has a beginning, a middle and an end, and below the end the readers have their say. ' +
    'What they say is loaded when somebody gets there.'
  return { id, title, body, status: 'published', theme: 'classic', commentsOpen: true, comments: [] }
}
