import type { BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { type Chromium, startChromium, visit } from './chromium.ts'
import { type CommentsHost, type CommentsHostOptions, startCommentsHost } from './comments-host.ts'

/** How the application and the browser are set up. */
export interface CommentsBrowserOptions extends CommentsHostOptions {
  /** Whether the browser keeps left pages for going back to them, as readers' browsers do. */
  readonly keepsPages?: boolean
}

/** An application with posts and the lazy comments, and a real browser. */
export interface CommentsBrowser extends CommentsHost {
  readonly chromium: Chromium
  /** Opens a page of the application in a separate window, watched from the start, until the test is over. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>
}

/** Starts application and browser. */
export async function startCommentsBrowser(options: CommentsBrowserOptions = {}): Promise<CommentsBrowser> {
  const { keepsPages = false, ...hostOptions } = options
  const chromium = await startChromium({ keepsPages })
  const host = await startCommentsHost(hostOptions)
  const { close } = host
  // Not a copy, because the application reads this object.
  return Object.assign(host, {
    chromium,
    async open(path: string, more?: BrowserContextOptions) {
      const page = await visit(chromium, `${host.origin}${path}`, more)
      onTestFinished(() => page.context().close())
      return page
    },
    async close() {
      await chromium.close()
      await close()
    },
  })
}
