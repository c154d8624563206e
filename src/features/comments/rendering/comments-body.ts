import { nodeCrypto } from '../../../ground/node-crypto.ts'

/** How many characters of markup are cached in total. */
const CAPACITY = 8_000_000

/** The response body for some markup. */
export interface CommentsBody {
  /** JSON with the key `html`, encoded as sent. */
  readonly json: Buffer
  /** Strong entity tag with quotes. The same markup has the same tag in every process. */
  readonly etag: string
}

/** Creates the response body for some markup. */
export function commentsBody(html: string): CommentsBody {
  const json = Buffer.from(JSON.stringify({ html }))
  return { json, etag: `"${nodeCrypto().createHash('sha256').update(json).digest('base64url')}"` }
}

/**
 * Returns a function that creates response bodies and caches the latest one of each post.
 *
 * Comparing a long thread with the cached one is much faster than encoding and hashing it again, and never returns
 * stale markup.
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
    // Evict entries, those unchanged for longest first.
    for (const oldest of kept.keys()) {
      if (size <= CAPACITY) break
      forget(oldest)
    }
    return body
  }
}
