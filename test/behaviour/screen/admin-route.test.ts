import { describe, expect, onTestFinished, test } from 'vitest'
import type { Texts } from '../../../src/index.ts'
import { type AdminLab, startAdminLab } from '../../support/admin-lab.ts'
import { type Answer, Browser } from '../../support/browser.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const SCRIPTS = ['/files/a.js', 'https://cdn.example/b.js', '/files/c.css']
const GERMAN: Texts = {
  lang: 'de',
  dir: 'rtl',
  product_name: 'Sitzungen',
  page_forbidden: 'Kein <Zutritt>',
  rest_sign_in: 'Bitte anmelden.',
  admin_save: '</script>Speichern',
}
const texts = (request: { headers: Headers | Record<string, string> }) =>
  new Headers(request.headers).get('accept-language') === 'de' ? GERMAN : {}
const lab = forThisFile(() => startAdminLab({ admin: { scripts: SCRIPTS }, sessmgr: { texts } }))

async function as(login?: string, where: AdminLab = lab): Promise<Browser> {
  const browser = new Browser(where.origin)
  if (login) await browser.get(`/sign-in/${login}`)
  return browser
}

const noStore = ({ status, headers }: Answer) => [status, headers.get('cache-control')]
const varsIn = ({ text }: Answer) =>
  JSON.parse(/window\.sessmgr=(.*?)<\/script>/.exec(text)?.[1] ?? '') as Record<string, unknown>
const directives = (answer: Answer) =>
  new Map((answer.headers.get('content-security-policy') ?? '').split('; ').map((one) => [one.split(' ')[0], one]))

describe('who may open the screen', () => {
  test('an administrator gets the page, at every address of a tab, and by HEAD its length', async () => {
    const browser = await as('admin')
    for (const path of ['/admin', '/admin/', '/admin?x=1', '/admin/sessions', '/admin/any-tab/', '/admin/%C3%A4']) {
      const answer = await browser.get(path)
      expect(noStore(answer), path).toEqual([200, 'no-store'])
      expect(answer.text, path).toContain('id="users_page_sessmgr"')
    }
    const head = await browser.request('HEAD', '/admin', {})
    expect([head.status, head.text]).toEqual([200, ''])
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(500)
    expect((await browser.get('/admin/a/b')).status).toBe(404)
    expect((await browser.post('/admin')).status).toBe(404)
  })

  test('one without manage_options gets a 403 page without a nonce or script; as JSON, all get the same statuses', async () => {
    const page = await (await as('carol')).get('/admin')
    expect(noStore(page)).toEqual([403, 'no-store'])
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.text).toContain('<a href="/login">')
    expect(page.text).not.toContain('<script')
    const read = async (login?: string) => (await as(login)).get('/admin/', { headers: { accept: 'application/json' } })
    const [nobody, alice, admin] = [await read(), await read('alice'), await read('admin')]
    expect(noStore(await (await as()).get('/admin'))).toEqual([302, 'no-store'])
    expect([nobody.status, nobody.json().code]).toEqual([401, 'rest_forbidden'])
    expect([alice.status, alice.json().code]).toEqual([403, 'rest_forbidden'])
    expect(noStore(admin)).toEqual([200, 'no-store'])
    expect(admin.json().restNonce).toMatch(/^[\w-]{32}$/)
  })
})

describe('the page', () => {
  test('starts with exactly the eight variables', async () => {
    const vars = varsIn(await (await as('admin')).get('/admin'))
    expect(Object.keys(vars)).toEqual(['version', 'slug', 'name', 'page', 'restUrl', 'restNonce', 'adminUrl', 'logics'])
    expect(vars).toMatchObject({ slug: 'sessmgr', restUrl: '/api/', adminUrl: '/admin/' })
    expect(vars.logics).toEqual(await lab.limiter.modes.catalogue())
    expect(vars.restNonce).toMatch(/^[\w-]{32}$/)
  })

  test('rule 40: is in the language of the request, and so is what others get', async () => {
    const page = async (language: string, login?: string, more: object = {}) =>
      (await (await as(login)).get('/admin', { headers: { 'accept-language': language, ...more } })).text
    const german = await page('de', 'admin')
    for (const part of [
      '<html lang="de" dir="rtl">',
      '<title>Sitzungen</title>',
      '{"save":"\\u003c/script>Speichern"}</script>',
    ]) {
      expect(german).toContain(part)
    }
    expect(await page('en', 'admin')).toContain('<html lang="en" dir="ltr">')
    expect(await page('de', 'alice')).toContain('<h1>Kein &lt;Zutritt&gt;</h1>')
    expect(await page('de', undefined, { accept: 'application/json' })).toContain('"Bitte anmelden."')
  })

  test('lets a filter change its variables, which cannot end the script; names the filter if it returns no object', async () => {
    const hostile = '</script><script>alert(1)</script>\u2028'
    const filtered = async (filter: (vars: object) => unknown) => {
      const remove = lab.limiter.hooks.addFilter('sessmgr_admin_script_vars', 'test', filter as never)
      const answer = await (await as('admin')).get('/admin')
      remove()
      return answer
    }
    const answer = await filtered((vars) => ({ ...vars, mine: hostile }))
    expect(varsIn(answer).mine).toBe(hostile)
    expect(answer.text).not.toContain('alert(1)</script>')
    expect(answer.text).not.toContain('\u2028')
    for (const bad of [null, 'a text', ['a list']]) {
      const { status, text } = await filtered(() => bad)
      expect([status, text], JSON.stringify(bad)).toEqual([500, expect.stringContaining('sessmgr_admin_script_vars')])
    }
  })

  test('has a policy that lets nothing inline run but what carries the nonce of this answer', async () => {
    const browser = await as('admin')
    const [one, other] = [await browser.get('/admin'), await browser.get('/admin')]
    const policy = directives(one)
    const script = policy.get('script-src') ?? ''
    const nonce = /'nonce-([\w-]{22})'/.exec(script)?.[1] ?? ''
    expect(script).toBe(`script-src 'self' 'nonce-${nonce}' https://cdn.example`)
    expect(policy.get('style-src')).toBe("style-src 'self'")
    for (const name of ['default-src', 'frame-ancestors', 'base-uri']) expect(policy.get(name)).toBe(`${name} 'none'`)
    expect([...policy.values()].join()).not.toContain('unsafe')
    for (const [tag] of one.text.matchAll(/<script\b[^>]*>/g)) expect(tag).toContain(` nonce="${nonce}"`)
    expect(other.headers.get('content-security-policy')).not.toContain(nonce)
    const admin = { frameAncestors: ['https://portal.example'] }
    const own = await startAdminLab({ admin, sessmgr: { audit: false } })
    onTestFinished(() => own.close())
    const framed = await (await as('admin', own)).get('/admin')
    expect(directives(framed).get('frame-ancestors')).toBe('frame-ancestors https://portal.example')
    expect(framed.text, 'rule 70').not.toContain('/admin/activity')
  })

  test('loads the files of add-ons after its own, style sheets as such, also those that came by enqueueAdmin()', async () => {
    lab.limiter.enqueueAdmin('/files/late.js')
    lab.limiter.enqueueAdmin('/files/a.js')
    const { text } = await (await as('admin')).get('/admin')
    const [own, ...others] = [...text.matchAll(/<script type="module" src="([^"]+)"/g)].map(([, src]) => src)
    expect(own).toMatch(/^\/admin\/assets\/main-[\w-]+\.js$/)
    expect(others).toEqual(['/files/a.js', 'https://cdn.example/b.js', '/files/late.js'])
    expect(text).toContain('<link rel="stylesheet" href="/files/c.css">')
  })
})

describe('the files of the screen', () => {
  test('may be kept for ever, are open to everybody, and come by gzip, then by brotli, to a browser that accepts it', async () => {
    const { text } = await (await as('admin')).get('/admin')
    const src = /src="(\/admin\/assets\/main-[^"]+)"/.exec(text)?.[1] ?? ''
    const browser = await as()
    const get = (accepted: string) => browser.get(src, { headers: { 'accept-encoding': accepted } })
    const codingFor = async (accepted: string) => (await get(accepted)).headers.get('content-encoding')
    const [zipped, plain] = [await get('gzip'), await get('identity')]
    expect([zipped, plain].map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', null])
    expect(zipped.text).toBe(plain.text)
    expect(noStore(plain)).toEqual([200, 'public, max-age=31536000, immutable'])
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff')

    await expect.poll(() => codingFor('gzip, deflate, br, zstd'), { timeout: 20_000 }).toBe('br')
    const brotli = await get('br;q=0.9')
    expect([brotli.headers.get('vary'), brotli.text]).toEqual(['Accept-Encoding', plain.text])
    const refused = await Promise.all(['gzip, br;q=0', 'br; q=0.0, gzip;q=1', 'gzip', 'brx', 'br;q=0'].map(codingFor))
    expect(refused).toEqual(['gzip', 'gzip', 'gzip', null, null])
    for (const name of ['manifest.json', '..%2f..%2fpackage.json', 'main.js', '__proto__']) {
      expect((await browser.get(`/admin/assets/${name}`)).status, name).toBe(404)
    }
  })
})
