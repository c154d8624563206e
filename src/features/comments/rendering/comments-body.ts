import { nodeCrypto } from '../../../ground/node-crypto.ts'

/** Characters of markup that are kept in all. */
const CAPACITY = 8_000_000

/** What is sent for some markup. */
export interface CommentsBody {
  /** JSON with the one key `html`, encoded as it is sent. */
  readonly json: Buffer
  /** Strong entity tag, quotes included: the same for the same markup in every process. */
  readonly etag: string
}

/** Writes the body for some markup. */
export function commentsBody(html: string): CommentsBody {
  const json = Buffer.from(JSON.stringify({ html }))
  return { json, etag: `"${nodeCrypto().createHash('sha256').update(json).digest('base64url')}"` }
}

/**
 * Makes a writer of bodies that keeps what it wrote last for each post.
 *
 * Comparing a long thread with the last one takes a small part of the time that writing and hashing it takes, and
 * nothing stale can come of it.
 */
export function commentsBodies(): (postId: number, html: string) => CommentsBody {
  const kept = new Map<number, { html: string; body: CommentsBody }>()
  let size = 0

  function forget(postId: number): void {
    size -= kept.get(postId)?.html.length ?? 0
    kept.delete(postId)
  }

  return (postId, html) => {
    const last = kept.get(postId)
    if (last?.html === html) return last.body
    const body = commentsBody(html)
    forget(postId)
    kept.set(postId, { html, body })
    size += html.length
    // Those that have not changed for the longest time go first.
    for (const oldest of kept.keys()) {
      if (size <= CAPACITY) break
      forget(oldest)
    }
    return body
  }
}
