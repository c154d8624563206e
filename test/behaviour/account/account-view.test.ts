import { describe, expect, test } from 'vitest'
import type { AccountOptions, AccountView } from '../../../src/index.ts'
import { type Answer, type Browser, textOf } from '../../support/browser.ts'
import { type ExpressSetup, startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { formIn, PAGE, signIn } from './account-hosts.ts'

const settings = { maximum: 5, logic: 'block' }
const OWN_COOKIES = ['theme=dark; Path=/', 'lang=en; Path=/']

/** What the application's own page, `/devices`, says of a view. */
const shownOf = (view: AccountView | undefined) => ({
  count: view?.devices?.count ?? null,
  result: view?.devices?.result?.kind ?? null,
  action: view?.action ?? null,
  html: view?.html ?? null,
})

/** Applications whose page `/devices` sets cookies of its own before and after it asks for the view. */
const HOSTS = {
  Express: (account: AccountOptions) =>
    startExpressHost({
      sessmgr: { settings },
      account,
      further: ({ app, limiter }) =>
        app.get('/devices', async (req, res) => {
          res.append('Set-Cookie', OWN_COOKIES[0])
          const view = await limiter.accountView(req, res)
          res.append('Set-Cookie', OWN_COOKIES[1]).json(shownOf(view))
        }),
    }),
  Fastify: (account: AccountOptions) =>
    startFastifyHost({
      sessmgr: { settings },
      account,
      further: ({ app, limiter }) =>
        app.get('/devices', async (request, reply) => {
          reply.header('set-cookie', OWN_COOKIES[0])
          const view = await limiter.accountView(request, reply)
          reply.header('set-cookie', OWN_COOKIES[1])
          return shownOf(view)
        }),
    }),
  Koa: (account: AccountOptions) =>
    startKoaHost({
      sessmgr: { settings },
      account,
      further: ({ limiter }) => ({
        'GET /devices': async (ctx) => {
          ctx.append('Set-Cookie', OWN_COOKIES[0] as string)
          const view = await limiter.accountView(ctx, ctx)
          ctx.append('Set-Cookie', OWN_COOKIES[1] as string)
          ctx.body = shownOf(view)
        },
      }),
    }),
}

describe.each(Object.keys(HOSTS) as (keyof typeof HOSTS)[])('limiter.accountView() on %s', (kind) => {
  test('gives the page of the reader, and the result of a form once, beside cookies of the application', async () => {
    const host = await HOSTS[kind]({ path: PAGE })
    const [here] = [await signIn(host, 'windows'), await signIn(host, 'iphone')]
    const before = await here.get('/devices')
    expect(before.json()).toMatchObject({ count: 2, result: null, action: PAGE })
    const form = formIn({ ...before, text: String(before.json().html) }, 'Safari on iPhone')
    expect((await here.post(PAGE, form)).location).toBe(PAGE)
    const after = await here.get('/devices')
    expect(after.json()).toMatchObject({ count: 1, result: 'ended' })
    expect(after.setCookies).toEqual(expect.arrayContaining(OWN_COOKIES))
    expect((await here.get('/devices')).json()).toMatchObject({ count: 1, result: null })
    // Nothing to a guest, and an error without the path of the page.
    expect((await host.browser().get('/devices')).json()).toMatchObject({ count: null, html: null })
    const { browser, errors } = await HOSTS[kind]({})
    expect((await browser().get('/devices')).status).toBe(500)
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('needs the path of the page') }),
    ])
  })
})

/** Status, policy and text of a page in the layout of the application. */
const drawn = ({ status, headers, text }: Answer) => [status, headers.get('content-security-policy'), text]

describe('the option `render`', () => {
  const render: AccountOptions['render'] = async ({ page, title, html }) => `<my-app>${title}|${page}|${html}</my-app>`
  const pages = async (browser: Browser) => [await browser.get(PAGE), await browser.get(`${PAGE}?confirm`)]

  test('puts each page into the layout of the application, which sets the policy of its scripts', async () => {
    const host = await startExpressHost({ sessmgr: { settings }, account: { render } })
    const here = await signIn(host, 'windows')
    await signIn(host, 'iphone')
    const [list, question] = (await pages(here)) as [Answer, Answer]
    const page = (name: string) =>
      expect.stringMatching(new RegExp(`^<my-app>Your devices\\|${name}\\|.*</my-app>$`, 's'))
    expect(drawn(list)).toEqual([200, "frame-ancestors 'none'", page('devices')])
    expect(drawn(question)).toEqual([200, "frame-ancestors 'none'", page('confirm')])
    expect(drawn(await here.post(PAGE, { others: '1' }))).toEqual([403, "frame-ancestors 'none'", page('old')])
    expect(textOf(list)).toContain('Safari on iPhone')
  })

  test('leaves a policy of the application alone, which without `render` gives way to that of the page', async () => {
    const policy = "default-src 'self'"
    const policyOf = async (account: AccountOptions) => {
      const further: ExpressSetup['further'] = ({ app, limiter }) =>
        app.use(
          '/mine',
          (_req, res, next) => next(void res.set('Content-Security-Policy', policy)),
          limiter.account(account),
        )
      const host = await startExpressHost({ sessmgr: { settings }, further })
      const { headers } = await (await signIn(host, 'windows')).get('/mine')
      return headers.get('content-security-policy')
    }
    expect(await policyOf({ render })).toBe(policy)
    expect(await policyOf({})).toMatch(/^default-src 'none'; style-src 'sha256-/)
  })
})
