import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { startChromium } from '../../support/chromium.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { startProxy } from '../../support/tcp-proxy.ts'
import { findUser } from '../../support/users.ts'

const LATENCY_MS = 120
const JUST_OVER_TEN_SECONDS = 11_000
const ALICE = 2
const BROWSERS = [
  'without the option device',
  'that never had its device cookie',
  'that has its device cookie',
] as const

const chromium = forThisFile(() => startChromium())
interface Case {
  readonly logic: 'block' | 'logout_oldest' | 'ask'
  readonly browser: (typeof BROWSERS)[number]
  readonly gap: number
}
const CASES: readonly Case[] = [
  { logic: 'block', browser: BROWSERS[0], gap: 50 },
  { logic: 'block', browser: BROWSERS[1], gap: 250 },
  { logic: 'block', browser: BROWSERS[2], gap: 50 },
  { logic: 'logout_oldest', browser: BROWSERS[0], gap: 250 },
  { logic: 'logout_oldest', browser: BROWSERS[1], gap: 50 },
  { logic: 'logout_oldest', browser: BROWSERS[2], gap: 250 },
  { logic: 'ask', browser: BROWSERS[0], gap: 50 },
]

// All at once, because each waits for a slow network most of the time.
test('rule 72: two clicks on a login, 50 or 250 ms apart, lock nobody out, in any mode and browser', async () => {
  await Promise.all(CASES.map(clickTwice))
})

async function clickTwice({ logic, browser, gap }: Case): Promise<void> {
  const name = `${logic}, ${gap} ms, in a browser ${browser}`
  const clock = fakeClock(1_700_000_000_000)
  const host = await startExpressHost({
    sessmgr: {
      store: memoryStore({ clock }),
      settings: { maximum: logic === 'logout_oldest' ? 2 : 1, logic },
      device: browser !== BROWSERS[0],
    },
    further({ app }) {
      app.get('/form', (_req, res) => void res.send('<form method="post" action="/in"><button>Sign in</button></form>'))
      app.post('/in', (req, res, next) => {
        req.logIn(findUser('alice') as Express.User, (error) => (error ? next(error) : res.redirect('/me')))
      })
    },
  })
  const proxy = await startProxy(Number(new URL(host.origin).port))
  onTestFinished(() => proxy.stop())
  proxy.set({ kind: 'delay', ms: LATENCY_MS })
  const origin = `http://127.0.0.1:${proxy.port}`
  const page = await (await chromium.visitor()).newPage()
  const open = () => page.goto(`${origin}/form`)
  const click = () => page.getByRole('button').click({ noWaitAfter: true })
  const isIn = () => page.evaluate('fetch("/me").then(({ status }) => status === 200)')
  /** Waits until the last click is answered: that page has no button, and no other page comes. */
  const isAnswered = async () => {
    for (let quiet = 0; quiet < 10; quiet++) {
      await sleep(LATENCY_MS / 2)
      const buttons = page.getByRole('button').count()
      if ((await buttons.catch(() => 1)) > 0) quiet = 0
    }
  }

  if (browser === BROWSERS[2]) {
    await open()
    await click()
    await isAnswered()
    await host.limiter.sessions.endAll(ALICE)
  }
  const other = logic === 'logout_oldest' ? await host.signedIn('alice') : undefined
  await open()
  await click()
  await sleep(gap)
  // After the answer, there is nothing left to click.
  const again = page.getByRole('button').click({ noWaitAfter: true, timeout: 100 })
  await again.catch(() => {})
  await isAnswered()
  if (logic === 'logout_oldest') expect(await isIn(), name).toBe(true)
  else if (!(await isIn())) {
    clock.advance(JUST_OVER_TEN_SECONDS)
    await open()
    await click()
    await isAnswered()
    expect(await isIn(), name).toBe(true)
  }
  expect(await host.limiter.sessions.count(ALICE), name).toBe(other ? 2 : 1)
  if (other) expect(await other.me(), name).toBe(200)
}
