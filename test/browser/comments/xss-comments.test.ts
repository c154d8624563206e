import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { createPosts, type Post } from '../../../examples/express-app/posts.ts'
import { createThemes } from '../../../examples/express-app/theme.ts'
import type { User, Users } from '../../../examples/express-app/users.ts'
import { placeholder } from '../../../src/features/comments/create-comments.ts'
import type { Theme } from '../../../src/index.ts'
import { startCommentsBrowser } from '../../support/comments-browser.ts'
import type { TestPost } from '../../support/comments-host.ts'
import { english } from '../../support/english.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { hostileAddresses, hostileTexts } from './xss-payloads.ts'
import { foreignMarkup, type Harm, type HarmWatch, watchForHarm, withoutPolicy } from './xss-watch.ts'

const TEXTS = hostileTexts()
const ADDRESSES = hostileAddresses()
const NOBODY: Pick<Users, 'findById'> = { findById: (): User | undefined => undefined }

const host = forThisFile(() => startCommentsBrowser({ theme: createThemes(NOBODY) as unknown as Theme<TestPost> }))
beforeAll(async () => {
  for (const [id, theme] of [
    [1, 'classic'],
    [2, 'block'],
  ] as const) {
    const hostile = TEXTS.map((text, index) => ({ id: index, author: text, text, url: ADDRESSES[index] }))
    keep({ id, theme, comments: hostile.map((comment) => ({ ...comment, approved: true })) })
    const harmless = TEXTS.map((_, index) => ({ id: index, author: 'Ines', text: 'Well put.', approved: true }))
    keep({ id: id + 10, theme, comments: harmless })
  }
  await host.comments.settings.set('load_method', 'click')
})

function keep(post: Pick<Post, 'id' | 'theme' | 'comments'>): void {
  host.posts.set(post.id, { ...createPosts().find(1), ...post } as unknown as TestPost)
}

const POLICIES = ['under the strict policy', 'without any policy'] as const

async function open(
  policy: (typeof POLICIES)[number],
): Promise<{ context: BrowserContext; page: Page; harm: HarmWatch }> {
  const context = await host.chromium.visitor()
  const harm = await watchForHarm(context, host.origin)
  if (policy === 'without any policy') await withoutPolicy(context)
  return { context, page: await context.newPage(), harm }
}

const NO_HARM: Harm = { ran: [], dialogs: [], requests: [], violations: [] }

test('what the texts do when nothing is escaped is seen by these tests', async () => {
  const { context, page, harm } = await open('without any policy')
  expect([new Set(TEXTS).size, new Set(ADDRESSES).size]).toEqual([500, 500])
  const raw = TEXTS.slice(0, 50)
  await page.goto(`${host.origin}/nonce`)
  await page.evaluate((texts) => {
    for (const [index, text] of texts.entries()) {
      const frame = document.createElement('iframe')
      frame.id = `frame-${index}`
      frame.srcdoc = `<!doctype html><article class="comment">${text}</article>`
      document.body.append(frame)
    }
  }, raw)
  await expect.poll(() => new Set(harm.ran).size, { timeout: 30_000 }).toBeGreaterThanOrEqual(28)
  expect(harm.requests.length).toBeGreaterThan(0)
  const seen = await Promise.all(
    raw.map(async (_, index) => {
      const frame = await (await page.$(`#frame-${index}`))?.contentFrame()
      return harm.ran.includes(index) || ((await frame?.evaluate(foreignMarkup)) ?? []).length > 0
    }),
  )
  expect(seen.filter(Boolean).length).toBeGreaterThanOrEqual(46)
  await context.close()
})

test.each(POLICIES)('%s, none of 500 hostile names, texts and addresses runs or leaves its place', async (policy) => {
  const { context, page, harm } = await open(policy)
  for (const way of ['script', 'inline']) {
    for (const [theme, id] of [
      ['classic', 1],
      ['block', 2],
    ] as const) {
      const harmless = await skeletonOf(page, id + 10, way)
      expect(await skeletonOf(page, id, way), `${theme}, ${way}`).toEqual(harmless)
      expect(await page.evaluate(foreignMarkup)).toEqual([])
      const names = page.locator('article.comment > strong')
      expect(await names.evaluateAll((all) => all.map((one) => one.textContent))).toEqual(TEXTS.map(parsed))
      expect(await harm.seenBy(page), `${theme}, ${way}`).toEqual(NO_HARM)
      expect(await isPolicyOn(page)).toBe(policy === 'under the strict policy')
    }
  }
  await context.close()
})

/** Whether the page refuses a handler that is not trusted. */
async function isPolicyOn(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    try {
      document.createElement('p').setAttribute('onclick', '')
      return false
    } catch {
      return true
    }
  })
}

/** Every element of the page but those inside of comments. */
async function skeletonOf(page: Page, id: number, way: string): Promise<string[]> {
  await page.goto(`${host.origin}/posts/${id}?space=100${way === 'inline' ? '&comments=all' : ''}`)
  if (way === 'script') {
    await page.locator('.lazycomments-button').click()
    await page.locator('lazy-comments[data-loaded=true]').waitFor()
  }
  await expect.poll(() => page.locator('article.comment').count()).toBe(500)
  return page.locator(':not(article.comment *)').evaluateAll((all) => all.map(({ tagName, id }) => `${tagName} ${id}`))
}

/** A text as it comes out of an HTML parser. */
function parsed(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\u0000', '')
}

test.each(POLICIES)(
  '%s, none of 500 hostile labels and classes of the button runs or leaves its place',
  async (policy) => {
    for (const way of ['sanitised', 'as they are']) {
      const { context, page, harm } = await open(policy)
      const write = way === 'sanitised' ? sanitised : raw
      const harmless = await skeletonOfButtons(page, policy, [await write('Well-put')])
      const buttons: string[] = []
      for (const text of TEXTS) buttons.push(await write(text))
      expect(await skeletonOfButtons(page, policy, buttons), way).toEqual(buttons.flatMap(() => harmless))
      const labels = await page
        .locator('main > lazy-comments > button.lazycomments-button')
        .evaluateAll((all) => all.map((one) => one.textContent ?? ''))
      if (way === 'as they are') expect(labels).toEqual(TEXTS.map(parsed))
      else expect(labels.filter((label) => label !== '' && !/<[^<>]*>/.test(label))).toHaveLength(500)
      expect(await harm.seenBy(page), way).toEqual(NO_HARM)
      await context.close()
    }
  },
)

/** Every element of a page that is made of buttons, with the names of its attributes. */
async function skeletonOfButtons(page: Page, policy: string, buttons: readonly string[]): Promise<string[]> {
  const nonce = 'c2l4dGVlbiByYW5kb20'
  const request = { url: '/', headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0' } }
  const script = await host.comments.script(request as never, host.posts.get(1), { nonce })
  expect(script).toContain('<script')
  await page.route('**/buttons', (route) =>
    route.fulfill({
      contentType: 'text/html; charset=utf-8',
      headers: policy === 'without any policy' ? {} : { 'Content-Security-Policy': strict(nonce) },
      body: `<!doctype html><title>Buttons</title>${script}<main>${buttons.join('')}</main>`,
    }),
  )
  await page.goto(`${host.origin}/buttons`)
  const all = page.locator('main *')
  return all.evaluateAll((all) => all.map((one) => [one.tagName, ...one.getAttributeNames()].join(' ')))
}

async function sanitised(text: string): Promise<string> {
  await host.comments.settings.update({ button_text: text, button_class: text })
  return host.comments.placeholder(host.posts.get(1))
}

async function raw(text: string): Promise<string> {
  const settings = { ...(await host.comments.settings.all()), button_text: text, button_class: text }
  const source = '/api/lazycomments/v1/comments?post_id=1'
  return placeholder({
    postId: 1,
    postUrl: '/posts/1',
    source,
    nonce: undefined,
    nonceHeader: 'X',
    settings,
    say: english,
  })
}

const strict = (nonce: string) =>
  `script-src 'nonce-${nonce}' 'strict-dynamic'; object-src 'none'; base-uri 'none'; ` +
  "require-trusted-types-for 'script'; trusted-types lazycomments"
