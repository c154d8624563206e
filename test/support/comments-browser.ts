import type { BrowserContextOptions, Page } from 'playwright-core'
import { type Chromium, startChromium, visit } from './chromium.ts'
import { type CommentsHost, type CommentsHostOptions, startCommentsHost } from './comments-host.ts'

/** How the application is put together, and the browser. */
export interface CommentsBrowserOptions extends CommentsHostOptions {
  /** Whether pages that are left are kept for going back to them, as readers' browsers do. */
  readonly keepsPages?: boolean
}

/** An application with posts and the lazy comments, with a real browser before it. */
export interface CommentsBrowser extends CommentsHost {
  readonly chromium: Chromium
  /** Opens a page of the application in a window of its own, watched from its first moment on. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>
}

/** Starts application and browser. */
export async function startCommentsBrowser(options: CommentsBrowserOptions = {}): Promise<CommentsBrowser> {
  const { keepsPages = false, ...hostOptions } = options
  const chromium = await startChromium({ keepsPages })
  const host = await startCommentsHost(hostOptions)
  const { close } = host
  // The same object and no copy: the application looks into it.
  return Object.assign(host, {
    chromium,
    open: (path: string, more?: BrowserContextOptions) => visit(chromium, `${host.origin}${path}`, more),
    async close() {
      await chromium.close()
      await close()
    },
  })
}
