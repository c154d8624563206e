// Draws the pictures of the documentation. With KEEP_PICTURES=1, keeps them.
import { mkdirSync, readdirSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { BrowserContext } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../../support/admin-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const IMAGES = fileURLToPath(new URL('../../../docs/images/', import.meta.url))
const folder = process.env.KEEP_PICTURES ? IMAGES : PICTURES
mkdirSync(folder, { recursive: true })

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'

const host = forThisFile(() => startAdminHost())
beforeEach(() => host.reset())

test('the admin screen shows the sessions of a user', async () => {
  await host.signIn('admin', { userAgent: PHONE })
  const page = await host.open('/sessions?user=admin', { viewport: { width: 1280, height: 940 } })
  await page.getByText('2 of 5 sessions').waitFor()
  await page.getByText('Safari 18 on iPhone').waitFor()
  await page.getByText('This is you').waitFor()
  await page.screenshot({ path: `${folder}admin-sessions.png` })
})

test('three pictures show how a login on one device signs another one out', async () => {
  await host.limiter.settings.update({ maximum: 1 })
  const window = { viewport: { width: 380, height: 330 }, deviceScaleFactor: 2 }
  const steps: string[] = []
  async function step(device: BrowserContext, words: string, seen: string) {
    const page = await device.newPage()
    await page.goto(host.origin)
    await page.getByText(seen).waitFor()
    const picture = (await page.screenshot()).toString('base64')
    steps.push(`<figure><figcaption>${words}</figcaption><img src="data:image/png;base64,${picture}"></figure>`)
    await page.close()
  }
  const laptop = await host.signIn('alice', window)
  await step(laptop, '<b>1</b> Alice signs in on a laptop.', 'Signed in as')
  const phone = await host.signIn('alice', { ...window, userAgent: PHONE })
  await step(phone, '<b>2</b> She signs in on a phone.', 'Signed in as')
  await step(laptop, '<b>3</b> The laptop is signed out.', 'You were signed out on this device.')
  const strip = await (await host.chromium.visitor({ deviceScaleFactor: 2 })).newPage()
  await strip.setContent(`<style>
    body { margin: 0; font: 600 17px system-ui, sans-serif; color: #1f2328 }
    main { display: inline-flex; gap: 24px; padding: 24px; background: #eef0f4 }
    figure { margin: 0; width: 380px }
    figcaption { margin-bottom: 14px }
    b { display: inline-block; width: 28px; margin-right: 6px; border-radius: 50%; line-height: 28px; text-align: center;
      background: #3a4cc0; color: #fff }
    img { display: block; width: 380px; border-radius: 10px; box-shadow: 0 1px 4px #0004 }
  </style><main>${steps.join('')}</main>`)
  await strip.locator('main').screenshot({ path: `${folder}signed-out.png` })
})

test('pictures have their words inside them, and none over another, in light and dark pages', async () => {
  for (const name of readdirSync(IMAGES).filter((one) => one.endsWith('.svg'))) {
    const page = await (await host.chromium.visitor({ viewport: { width: 480, height: 580 } })).newPage()
    await page.goto(pathToFileURL(IMAGES + name).href)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await page.evaluate(misplacedWords), `${name}, ${colorScheme}`).toEqual([])
    }
    await page.close()
  }
})

/** Runs in the page of a picture, and returns the words at or over its edges, and those that meet others. */
function misplacedWords(): (string | null)[] {
  const picture = document.querySelector('svg') as SVGSVGElement
  const texts = [...document.querySelectorAll('text')].map((text) => ({ words: text.textContent, box: text.getBBox() }))
  const { width, height } = picture.viewBox.baseVal
  const isOutside = ({ box }: (typeof texts)[0]) =>
    box.x < 8 || box.y < 8 || box.x + box.width > width - 8 || box.y + box.height > height - 8
  const meet = (a: DOMRect, b: DOMRect) =>
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height - 1 && b.y < a.y + a.height - 1
  const over = texts.filter((one) => texts.some((other) => other !== one && meet(one.box, other.box)))
  return [...texts.filter(isOutside), ...over].map(({ words }) => words)
}
