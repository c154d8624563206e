import { beforeEach, expect, test } from 'vitest'
import { commentsLoaded, seenBy } from '../../support/chromium.ts'
import { startCommentsBrowser } from '../../support/comments-browser.ts'
import { threadOf } from '../../support/comments-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const host = forThisFile(() => startCommentsBrowser())
beforeEach(() => {
  host.failures.length = 0
  host.render = threadOf
})

test('under a nonce policy that asks for trusted types, there is no violation over the life of the page', async () => {
  for (const [method, path, failures] of [
    ['scroll', '/posts/1', []],
    ['click', '/posts/1?space=100', []],
    ['click', '/posts/1?space=100', [404]],
    ['scroll', '/posts/1?space=100', [500, 500, 500]],
    ['click', '/posts/1#comment-17', []],
    ['scroll', '/posts/1?twice#comment-999', []],
  ] as const) {
    await host.comments.settings.set('load_method', method)
    host.failures.push(...failures)
    const page = await host.open(path)
    if (path === '/posts/1') await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    if (method === 'click' && !path.includes('#')) await page.locator('.lazycomments-button').click()
    if (failures.length > 0) {
      await page.getByText('Comments could not be loaded.').waitFor()
      await page.locator('.lazycomments-button').click()
    }
    await commentsLoaded(page)
    await page.evaluate('dispatchEvent(new Event("beforeprint"))')
    expect((await seenBy(page)).violations, `${method} ${path}`).toEqual([])
    // One would be seen.
    await page.evaluate('try { document.body.innerHTML = "<p>" } catch {}')
    expect((await seenBy(page)).violations).toEqual(['require-trusted-types-for trusted-types-sink'])
    await page.close()
  }
})

test.each(['with', 'without'])('scripts in the comments do not run, %s a policy', async (policy) => {
  await host.comments.settings.set('load_method', 'click')
  host.render = (post) => `<script>window.seen.ran.push(1)</script>${threadOf(post)}<script src="/nonce"></script>`
  const page = await host.open('/nonce')
  if (policy === 'without') {
    await page.route('**/posts/*', async (route) => {
      const response = await route.fetch()
      const { 'content-security-policy': _none, ...headers } = response.headers()
      await route.fulfill({ response, headers })
    })
  }
  await page.goto(`${host.origin}/posts/1?space=100`)
  await page.locator('.lazycomments-button').click()
  await commentsLoaded(page)
  await expect.poll(() => page.locator('lazy-comments script').count()).toBe(2)
  expect((await seenBy(page)).ran).toEqual([])
})

test('where the policy allows no `lazycomments`, the link still leads to the comments', async () => {
  await host.comments.settings.set('load_method', 'click')
  const page = await host.open('/nonce')
  await page.route('**/posts/*', async (route) => {
    const response = await route.fetch()
    const headers = response.headers()
    const policy = headers['content-security-policy']?.replace('trusted-types lazycomments', 'trusted-types other')
    await route.fulfill({ response, headers: { ...headers, 'content-security-policy': policy ?? '' } })
  })
  await page.goto(`${host.origin}/posts/1?space=100`)
  await page.getByRole('link', { name: 'Load Comments' }).click()
  await page.locator('#comment-20').waitFor()
  expect(new URL(page.url()).search).toBe('?comments=all')
})
