import type { ServerResponse } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { startCommentsBrowser } from '../../support/comments-browser.ts'
import { voices } from '../../support/comments-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { rounds } from '../../support/rounds.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const SEED = 20_260_711
const VIEWS = rounds(50)
const AT_ONCE = 50
const STEPS = 6
const TRIGGERS = ['scroll', 'hash', 'link', 'click', 'print', 'online', 'call', 'nothing'] as const

const host = forThisFile(() => startCommentsBrowser())
// Each view is of a post of its own, so that none shares an answer with another in the browser's cache.
beforeAll(() => {
  for (let id = 1; id <= VIEWS; id++) host.posts.set(id, { id, status: 'published', comments: voices(20) })
})

/** Shows so many views of the post side by side, each a page of its own in a frame, and pulls the triggers in each. */
async function pullTriggers({ plans, first }: { plans: string[][]; first: number }): Promise<string[]> {
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const acts: Record<string, (view: Window, element: HTMLElement & { load(): Promise<void> }) => unknown> = {
    scroll: (view) => view.scrollTo(0, view.document.body.scrollHeight),
    hash: (view) => {
      view.location.hash = `comment-${Math.ceil(view.scrollY % 20)}`
    },
    link: (view) => view.document.querySelector<HTMLElement>('#space a')?.click(),
    click: (_view, element) => element.querySelector<HTMLElement>('.lazycomments-button')?.click(),
    print: (view) => view.dispatchEvent(new Event('beforeprint')),
    online: (view) => view.dispatchEvent(new Event('online')),
    call: (_view, element) => element.load(),
    nothing: () => undefined,
  }
  const results = plans.map(async (plan, index) => {
    const frame = document.createElement('iframe')
    frame.width = '100'
    frame.height = '60'
    const ready = new Promise((resolve) => frame.addEventListener('load', resolve))
    frame.src = `/posts/${first + index}`
    document.body.append(frame)
    await ready
    const view = frame.contentWindow as Window
    const element = view.document.querySelector('lazy-comments') as HTMLElement & { load(): Promise<void> }
    for (const [step, name] of plan.entries()) {
      acts[name]?.(view, element)
      if ((step + index) % 2 === 0) await pause(index % 7)
    }
    // Whatever has gone before: the reader comes to the comments in the end.
    for (let turn = 0; element.dataset.loaded !== 'true'; turn++) {
      if (turn % 2) view.dispatchEvent(new Event('online'))
      else await element.load()
      await pause(25)
    }
    const outcome = `${element.dataset.loaded} ${element.ariaBusy} ${element.querySelectorAll('[id^=comment-]').length}`
    view.dispatchEvent(new Event('beforeprint'))
    view.dispatchEvent(new Event('online'))
    await pause(25)
    frame.remove()
    return outcome
  })
  return Promise.all(results)
}

// Printing waits for nothing, so each print may overtake an answer that is on its way already.
test(`rule 36: ${VIEWS} orders of triggers make one successful request each, and one more for a print at most (seed ${SEED})`, async () => {
  const random = seededRandom(SEED)
  const oneOf = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const plans = Array.from({ length: VIEWS }, () => Array.from({ length: STEPS }, () => oneOf(TRIGGERS)))
  const kinds = [undefined, undefined, undefined, 503, 404, 'cut'] as const
  host.failures.push(...Array.from({ length: VIEWS }, () => oneOf(kinds)))

  const page = await host.open('/nonce', { viewport: { width: 1400, height: 900 } })
  for (let first = 0; first < VIEWS; first += AT_ONCE) {
    await host.comments.settings.set('load_method', first % (2 * AT_ONCE) ? 'click' : 'scroll')
    const outcomes = await page.evaluate(pullTriggers, { plans: plans.slice(first, first + AT_ONCE), first: first + 1 })
    expect(new Set(outcomes)).toEqual(new Set(['true null 20']))
  }

  expect(host.failures.length).toBe(0)
  const successful = new Map<string, number>()
  for (const request of host.requests) {
    const { statusCode, writableFinished } = (request as unknown as { res: ServerResponse }).res
    if (statusCode !== 200 && statusCode !== 304) continue
    // What was broken off on the way was no success.
    if (!writableFinished) continue
    const view = new URL(request.url ?? '', host.origin).searchParams.get('post_id') ?? ''
    successful.set(view, (successful.get(view) ?? 0) + 1)
  }
  expect(successful.size).toBe(VIEWS)
  const allowed = (view: string) => 1 + (plans[Number(view) - 1] ?? []).filter((name) => name === 'print').length
  const repeated = [...successful].filter(([view, count]) => count > allowed(view))
  expect(repeated).toEqual([])
})

test('comments far below load by themselves when the page is idle or is searched, unless the reader saves data', async () => {
  for (const [method, keys, savesData, loads] of [
    ['idle', '', false, true],
    ['click', 'Control+f', false, true],
    ['idle', '', true, false],
    ['click', '', false, false],
  ] as const) {
    await host.comments.settings.set('load_method', method)
    const page = await host.open('/nonce')
    if (savesData) {
      await page.addInitScript(() => Object.defineProperty(navigator, 'connection', { value: { saveData: true } }))
    }
    await page.goto(`${host.origin}/posts/1?space=9000`)
    if (keys) await page.keyboard.press(keys)
    const state = () => page.locator('lazy-comments').getAttribute('data-loaded')
    if (loads) await expect.poll(state).toBe('true')
    else await page.evaluate(() => new Promise((idle) => requestIdleCallback(() => requestIdleCallback(idle))))
    await page.waitForTimeout(100)
    expect((await state()) === 'true', `${method} ${keys} ${savesData}`).toBe(loads)
    expect(await page.evaluate(() => scrollY)).toBe(0)
  }
})
