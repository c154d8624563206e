/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import type { BrowserContext, Page } from 'playwright-core'
import { watch } from '../../support/chromium.ts'

/** The harm that hostile strings have done. */
export interface Harm {
  /** Numbers of the payloads that ran. */
  readonly ran: unknown[]
  readonly dialogs: string[]
  /** URLs of other sites that were requested. */
  readonly requests: string[]
  /** Violations that the policy stopped. */
  readonly violations: readonly string[]
}

/** Watches a window of the browser for harm. */
export interface HarmWatch {
  readonly ran: readonly unknown[]
  readonly requests: readonly string[]
  /** Returns all harm, after payloads had time to run. */
  seenBy(page: Page): Promise<Harm>
}

/** Records what runs, opens or is fetched from other sites, from the start of each page and frame. */
export async function watchForHarm(context: BrowserContext, origin: string): Promise<HarmWatch> {
  const harm = { ran: [] as unknown[], dialogs: [] as string[], requests: [] as string[] }
  await watch(context)
  await context.exposeBinding('ran', (_source, number) => void harm.ran.push(number))
  context.on('dialog', (dialog) => {
    harm.dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  await context.route(
    (url) => url.origin !== origin,
    (route) => {
      harm.requests.push(route.request().url())
      return route.abort()
    },
  )
  return {
    ...harm,
    async seenBy(page) {
      await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle, { timeout: 2000 })))
      await page.waitForTimeout(200)
      return { ...harm, violations: await page.evaluate(() => window.seen.violations) }
    },
  }
}

/** Removes the policy from every page. */
export async function withoutPolicy(context: BrowserContext): Promise<void> {
  await context.route('**/posts/*', async (route) => {
    const response = await route.fetch()
    const headers = { ...response.headers() }
    delete headers['content-security-policy']
    await route.fulfill({ response, headers })
  })
}

/** Runs in a page, and returns all markup in its comments that readers may not use. */
export function foreignMarkup(): string[] {
  const allowed: Record<string, string> = {
    ...{ STRONG: '', EM: '', CODE: '', BLOCKQUOTE: '', P: '', BR: '' },
    ...{ A: 'href rel', DIV: 'class' },
  }
  const inside = [...document.querySelectorAll('article.comment *')]
  const found = inside.flatMap((element) => {
    const { tagName, namespaceURI, shadowRoot } = element
    const names = allowed[tagName]?.split(' ') ?? []
    const wrong = element.getAttributeNames().filter((name) => !names.includes(name))
    const href = element.getAttribute('href')
    const isWeb = href === null || /^https?:\/\//.test((element as HTMLAnchorElement).href)
    const isPlain = namespaceURI === 'http://www.w3.org/1999/xhtml' && shadowRoot === null
    const isMarked = href === null || element.getAttribute('rel') === 'nofollow ugc'
    const isFine = tagName in allowed && wrong.length === 0 && isWeb && isPlain && isMarked
    return isFine ? [] : [element.outerHTML.slice(0, 200)]
  })
  const blocks = [...document.querySelectorAll('.comment div')].filter(({ className }) => className !== 'comment-text')
  return [...found, ...blocks.map(({ outerHTML }) => outerHTML.slice(0, 200))]
}
