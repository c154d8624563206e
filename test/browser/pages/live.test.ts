import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { codeBlocks, pageAt } from '../../docs/pages.ts'
import { startChromium } from '../../support/chromium.ts'
import { ExampleApp } from '../../support/example-app.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { type LiveClient, signIn } from '../../support/live-clients.ts'
import { type LiveHost, startLiveHost } from '../../support/live-host.ts'

const chromium = forThisFile(() => startChromium())

/** The code for browsers in docs/live.md. */
const SNIPPET = codeBlocks(pageAt('docs/live.md')).find(({ language }) => language === 'js')?.code ?? ''

async function openWindow(): Promise<Page> {
  const context = await chromium.visitor()
  onTestFinished(() => context.close())
  return context.newPage()
}

/** Opens a page of a signed-in user that calls a function of the snippet, and notes what it hears. */
async function openPage(host: LiveHost, call: string) {
  const client = await signIn(host.origin, 7)
  const page = await openWindow()
  await setCookie(page, host, client)
  await page.goto(`${host.origin}/page`)
  const url = host.origin.replace('http', call.startsWith('connect') ? 'ws' : 'http')
  await page.evaluate(`(() => { ${SNIPPET}
    const heard = []
    window.heard = heard
    ${call.replace('URL', url)}, ({ data }) => heard.push(data), () => heard.push('signed out'))
  })()`)
  return { client, page, heard: () => page.evaluate('heard.join()') }
}

async function setCookie(page: Page, { origin }: LiveHost, { cookie }: LiveClient): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  await page.context().addCookies([{ name, value, url: origin }])
}

const CALLS = ["connect('URL/ws'", "listen('URL/events'"]

test.each(CALLS)(
  '%s, …) of docs/live.md connects again after a login, hears the end of its session, and stays away',
  async (call) => {
    const host = await startLiveHost()
    const { client, page, heard } = await openPage(host, call)
    await expect.poll(heard).toBe('hello')
    // The answer to the login brings the new cookie after the connection was closed.
    const again = await signIn(host.origin, 7, client.cookie)
    await setCookie(page, host, again)
    await expect.poll(heard, { timeout: 30_000 }).toMatch(/^hello,hello/)
    expect(host.live.size).toBe(1)
    await host.limiter.sessions.end(7, again.token)
    await expect.poll(heard).toMatch(/,signed out$/)
    expect(host.live.size).toBe(0)
  },
)

test('the page "Who is signed in" of the example follows along, and shows why its session has ended', async () => {
  const example = await ExampleApp.start({ SESSMGR_MAXIMUM: '2' })
  onTestFinished(() => example.stop())
  const page = await openWindow()
  await page.goto(`${example.origin}/login?redirect_to=/live`)
  await page.getByLabel('User').fill('alice')
  await page.getByLabel('Password').fill('alice-password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  const list = page.locator('#signed-in')
  await expect.poll(() => list.textContent()).toMatch(/^Alice\b(?!.*devices)/)
  await example.signedIn('alice')
  await expect.poll(() => list.textContent()).toContain('on 2 devices')
  await example.limiter.sessions.endAll(2, { by: 'admin' })
  await page.getByText('An administrator did that').waitFor()
})
