import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { commentsLoaded } from '../../support/chromium.ts'
import { startCommentsBrowser } from '../../support/comments-browser.ts'
import { threadOf, voices } from '../../support/comments-host.ts'
import { deferred } from '../../support/deferred.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const host = forThisFile(() => startCommentsBrowser({ keepsPages: true }))
beforeEach(async () => {
  host.failures.length = 0
  host.requests.length = 0
  host.render = threadOf
  await host.comments.settings.set('load_method', 'click')
})

const press = (page: Page) => page.locator('.lazycomments-button').first().click()

/** Opens the post and waits until its comments are being loaded. */
async function openLoading(): Promise<Page> {
  const page = await host.open('/posts/1?space=100')
  await press(page)
  await page.locator('lazy-comments[aria-busy=true]').waitFor()
  return page
}

describe('a page that comes back out of the browser history', () => {
  /** Leaves the page and goes back. The page is the same one, not loaded anew. */
  async function leaveAndReturn(page: Page): Promise<void> {
    await page.evaluate(() => {
      Object.assign(window, { same: true })
      addEventListener('pageshow', ({ persisted }) => Object.assign(window, { persisted }))
    })
    await page.goto(`${host.origin}/nonce`)
    await page.goBack({ waitUntil: 'commit' })
    await page.waitForFunction(() => 'persisted' in window)
    expect(await page.evaluate('[same, persisted]')).toEqual([true, true])
  }

  test('with its comments loaded asks for nothing again', async () => {
    await host.comments.settings.set('load_method', 'scroll')
    const page = await host.open('/posts/1?space=100')
    await commentsLoaded(page)
    await leaveAndReturn(page)
    await expect.poll(() => page.locator('[id^=comment-]').count()).toBe(20)
    expect(await page.locator('lazy-comments').getAttribute('aria-busy')).toBe(null)
    expect(host.requests).toHaveLength(1)
  })

  test('in the middle of loading goes on and does not stay busy', async () => {
    const answer = deferred()
    host.render = async (post) => {
      await answer.promise
      return threadOf(post)
    }
    const page = await openLoading()
    await leaveAndReturn(page)
    answer.resolve()
    await commentsLoaded(page)
    await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0)
    await expect.poll(() => page.locator('[id^=comment-]').count()).toBe(20)
  })
})

test('1,000 removals and returns leave no listener behind, none forbids the browser to keep the page, and all loads', async () => {
  const page = await host.open('/posts/1')
  const client = await page.context().newCDPSession(page)
  async function listeners(): Promise<string[][]> {
    const types = ['window', 'document', 'document.querySelector("lazy-comments")'].map(async (expression) => {
      const { result } = await client.send('Runtime.evaluate', { expression })
      const { listeners } = await client.send('DOMDebugger.getEventListeners', { objectId: result.objectId as string })
      return listeners.map(({ type }) => type).sort()
    })
    return Promise.all(types)
  }
  // The first look at an element brings in listeners of the tool that drives the browser.
  await page.locator('lazy-comments').evaluate(() => {})
  const before = await listeners()
  expect(before[0]).toContain('popstate')
  expect(before[0]?.filter((type) => /unload/.test(type))).toEqual([])
  await page.locator('lazy-comments').evaluate((element) => {
    const parent = element.parentElement as HTMLElement
    for (let turn = 0; turn < 1000; turn++) {
      element.remove()
      parent.append(element)
    }
  })
  expect(await listeners()).toEqual(before)
  expect(host.requests).toHaveLength(0)
  await press(page)
  await commentsLoaded(page)
  expect(host.requests).toHaveLength(1)
})

test('what was loading and is removed hears nothing; moved, or copied as page libraries do, it can load once', async () => {
  for (const isCopy of [false, true]) {
    host.failures.push(0)
    host.requests.length = 0
    const page = await openLoading()
    await page.locator('lazy-comments').evaluate((element, copy) => {
      if (copy) return element.replaceWith(element.cloneNode(true))
      element.remove()
      dispatchEvent(new Event('beforeprint'))
      document.querySelector('main')?.append(element)
    }, isCopy)
    expect(await page.locator('lazy-comments').getAttribute('aria-busy')).toBe(null)
    expect(host.requests).toHaveLength(1)
    await press(page)
    await commentsLoaded(page)
    expect(host.requests).toHaveLength(2)
  }
})

test('several mount points on one page load one by one, or all for a hash, each once and with its own message', async () => {
  host.posts.set(2, { id: 2, status: 'published', comments: voices(1) })
  const page = await host.open('/posts/1?space=100&twice')
  await page.locator('.lazycomments-button').last().click()
  await commentsLoaded(page)
  expect(host.requests.map(({ url }) => url)).toEqual([expect.stringContaining('post_id=2')])
  await page.locator('.lazycomments-button').first().click()
  await page.locator('.lazycomments-button').waitFor({ state: 'detached' })
  const words = ['20 comments loaded', '1 comment loaded']
  await expect.poll(() => page.getByRole('status').allTextContents()).toEqual(words)
  expect(host.requests).toHaveLength(2)
  const other = await host.open('/posts/1?twice#comment-17')
  await other.locator('lazy-comments[data-loaded=true]').nth(1).waitFor({ state: 'attached' })
  await other.evaluate('dispatchEvent(new Event("beforeprint"))')
  expect(host.requests).toHaveLength(4)
  await expect.poll(() => other.evaluate('document.activeElement.id')).toBe('comment-17')
})

describe('the events', () => {
  const TELL = ['load', 'loaded', 'error'] as const

  /** Notes the events on the document: they bubble. Those named are cancelled. */
  async function listen(page: Page, cancelled: string[] = []): Promise<() => Promise<unknown[]>> {
    await page.evaluate(
      ({ names, cancelled }) => {
        const told: unknown[] = []
        Object.assign(window, { told, allow: () => cancelled.splice(0) })
        for (const name of names) {
          document.addEventListener(`lazycomments:${name}`, (event) => {
            const isCancelled = cancelled.includes(name)
            if (isCancelled) event.preventDefault()
            told.push([name, (event as CustomEvent).detail, (event.target as Element).getAttribute('post')])
          })
        }
      },
      { names: [...TELL], cancelled },
    )
    return () => page.evaluate<unknown[]>('told')
  }

  test('tell of loading, of failing with its status, where a page may leave out the message, and of the number', async () => {
    host.failures.push(404, 404)
    const page = await host.open('/posts/1?space=100')
    const told = await listen(page, ['error'])
    await press(page)
    await expect.poll(async () => (await told()).length).toBe(2)
    expect(await page.getByRole('alert').textContent()).toBe('')
    expect(await page.locator('.lazycomments-button').textContent()).toBe('Load Comments')
    await page.evaluate('allow()')
    await press(page)
    await page.getByText('Comments could not be loaded.').waitFor()
    await press(page)
    await commentsLoaded(page)
    expect(await told()).toEqual([
      ['load', null, '1'],
      ['error', { status: 404 }, '1'],
      ['load', null, '1'],
      ['error', { status: 404 }, '1'],
      ['load', null, '1'],
      ['loaded', { count: 20 }, '1'],
    ])
  })

  test('leave the number out, as the status does, for a theme whose comments have no ids; stop what is cancelled', async () => {
    host.render = (post) => threadOf(post).replaceAll('id="comment-', 'data-comment="')
    const page = await host.open('/posts/1?space=100')
    const told = await listen(page, ['load'])
    await press(page)
    expect(await told()).toEqual([['load', null, '1']])
    await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0)
    expect(host.requests).toHaveLength(0)
    await page.evaluate('allow(), document.querySelector("lazy-comments").load()')
    await commentsLoaded(page)
    expect((await told()).at(-1)).toEqual(['loaded', { count: 0 }, '1'])
    expect(await page.getByRole('status').textContent()).toBe('comments loaded')
  })
})
