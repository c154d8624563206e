import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminLab, startAdminLab } from '../../support/admin-lab.ts'
import { type Answer, Browser } from '../../support/browser.ts'

let lab: AdminLab
beforeAll(async () => {
  lab = await startAdminLab({ admin: { scripts: ['/files/a.js', 'https://cdn.example/b.js', '/files/c.css'] } })
})
afterAll(() => lab?.close())

async function as(login?: string): Promise<Browser> {
  const browser = new Browser(lab.origin)
  if (login) await browser.get(`/sign-in/${login}`)
  return browser
}

const json = { headers: { accept: 'application/json' } }
const varsIn = ({ text }: Answer) =>
  JSON.parse(/window\.sessmgr=(.*?)<\/script>/.exec(text)?.[1] ?? '') as Record<string, unknown>
const directives = (answer: Answer) =>
  new Map((answer.headers.get('content-security-policy') ?? '').split('; ').map((one) => [one.split(' ')[0], one]))

describe('who may open the screen', () => {
  test('an anonymous visitor is sent to the login, with the way back', async () => {
    const answer = await (await as()).get('/admin/sessions?user=alice')
    expect(answer.status).toBe(302)
    expect(answer.location).toBe(`/login?redirect_to=${encodeURIComponent('/admin/sessions?user=alice')}`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test.each(['alice', 'carol'])(
    '%s, without manage_options, gets a 403 page without a nonce or script',
    async (login) => {
      const answer = await (await as(login)).get('/admin')
      expect(answer.status).toBe(403)
      expect(answer.headers.get('content-type')).toContain('text/html')
      expect(answer.text).toContain('You cannot open this page')
      expect(answer.text).toContain('<a href="/login">')
      expect(answer.text).not.toContain('<script')
      expect(answer.headers.get('cache-control')).toBe('no-store')
    },
  )

  test('an administrator gets the page, at every address of a tab', async () => {
    const browser = await as('admin')
    for (const path of ['/admin', '/admin/', '/admin?x=1', '/admin/sessions', '/admin/any-tab/', '/admin/%C3%A4']) {
      const answer = await browser.get(path)
      expect(answer.status, path).toBe(200)
      expect(answer.text, path).toContain('id="users_page_sessmgr"')
      expect(answer.headers.get('cache-control'), path).toBe('no-store')
    }
    expect((await browser.get('/admin/a/b')).status).toBe(404)
    expect((await browser.post('/admin')).status).toBe(404)
  })

  test('a session that has been ended is sent to the login', async () => {
    const browser = await as('admin')
    await lab.limiter.sessions.endAll(1)
    expect((await browser.get('/admin')).status).toBe(302)
  })

  test('HEAD answers as GET does, without the page', async () => {
    const answer = await (await as('admin')).request('HEAD', '/admin', {})
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(500)
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

  test('shows the tabs before the script runs, and loads the list of sessions early for its tab only', async () => {
    const browser = await as('admin')
    const [settings, sessions] = [await browser.get('/admin/settings'), await browser.get('/admin')]
    expect(settings.text).toContain('<a href="/admin/settings" aria-current="page">Settings</a>')
    expect(sessions.text).toContain('<a href="/admin/sessions" aria-current="page">Sessions</a>')
    const early = /<link rel="modulepreload" href="\/admin\/assets\/people-page-[\w-]+\.js"/
    expect(settings.text).not.toMatch(early)
    expect(sessions.text).toMatch(early)
    for (const answer of [settings, sessions]) expect(answer.text).not.toContain('/admin/comments')
  })

  test('rule 70: has no Activity tab if audit is false', async () => {
    const quiet = await startAdminLab({ sessmgr: { audit: false } })
    const browser = new Browser(quiet.origin)
    await browser.get('/sign-in/admin')
    const { status, text } = await browser.get('/admin')
    await quiet.close()
    expect(status).toBe(200)
    expect(text).toContain('/admin/settings')
    expect(text).not.toContain('/admin/activity')
  })

  test('lets the filter sessmgr_admin_script_vars change them, and nothing in them can end the script', async () => {
    const hostile = '</script><script>alert(1)</script>\u2028'
    const remove = lab.limiter.hooks.addFilter('sessmgr_admin_script_vars', 'test', (vars) => ({
      ...vars,
      mine: hostile,
    }))
    const answer = await (await as('admin')).get('/admin')
    remove()
    expect(varsIn(answer).mine).toBe(hostile)
    expect(answer.text).not.toContain('alert(1)</script>')
    expect(answer.text).not.toContain('\u2028')
  })

  test.each([null, 'a text', ['a list']])(
    'is refused, with the name of the filter, when it returns %j',
    async (bad) => {
      const remove = lab.limiter.hooks.addFilter('sessmgr_admin_script_vars', 'test', () => bad as never)
      const answer = await (await as('admin')).get('/admin')
      remove()
      expect(answer.status).toBe(500)
      expect(answer.text).toContain('sessmgr_admin_script_vars')
    },
  )

  test('has a policy that lets nothing inline run but what carries the nonce of this answer', async () => {
    const browser = await as('admin')
    const [one, other] = [await browser.get('/admin'), await browser.get('/admin')]
    const policy = directives(one)
    const script = policy.get('script-src') ?? ''
    const nonce = /'nonce-([\w-]{22})'/.exec(script)?.[1] ?? ''
    expect(script).toBe(`script-src 'self' 'nonce-${nonce}' https://cdn.example`)
    expect(policy.get('style-src')).toBe("style-src 'self'")
    expect(policy.get('default-src')).toBe("default-src 'none'")
    expect(policy.get('frame-ancestors')).toBe("frame-ancestors 'none'")
    expect(policy.get('base-uri')).toBe("base-uri 'none'")
    expect([...policy.values()].join()).not.toContain('unsafe')
    for (const [tag] of one.text.matchAll(/<script\b[^>]*>/g)) expect(tag).toContain(` nonce="${nonce}"`)
    expect(other.headers.get('content-security-policy')).not.toContain(nonce)
  })

  test('loads the files of add-ons after its own, style sheets as such, also those that came by enqueueAdmin()', async () => {
    lab.limiter.enqueueAdmin('/files/late.js')
    lab.limiter.enqueueAdmin('/files/a.js')
    const { text } = await (await as('admin')).get('/admin')
    const scripts = [...text.matchAll(/<script type="module" src="([^"]+)"/g)].map(([, src]) => src)
    expect(scripts.slice(1)).toEqual(['/files/a.js', 'https://cdn.example/b.js', '/files/late.js'])
    expect(scripts[0]).toMatch(/^\/admin\/assets\/main-[\w-]+\.js$/)
    expect(text).toContain('<link rel="stylesheet" href="/files/c.css">')
  })

  test('may be framed where the application says so', async () => {
    const framed = await startAdminLab({ admin: { frameAncestors: ['https://portal.example'] } })
    const browser = new Browser(framed.origin)
    await browser.get('/sign-in/admin')
    expect(directives(await browser.get('/admin')).get('frame-ancestors')).toBe(
      'frame-ancestors https://portal.example',
    )
    await framed.close()
  })
})

describe('the variables as JSON, with which an open screen gets a fresh nonce', () => {
  test('are for whoever may open the screen', async () => {
    expect(await answered(await as())).toEqual([401, 'rest_forbidden'])
    expect(await answered(await as('alice'))).toEqual([403, 'rest_forbidden'])
    const answer = await (await as('admin')).get('/admin/', json)
    expect(answer.json().restNonce).toMatch(/^[\w-]{32}$/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  async function answered(browser: Browser): Promise<unknown[]> {
    const answer = await browser.get('/admin/', json)
    return [answer.status, answer.json().code]
  }
})

describe('the files of the screen', () => {
  test('may be kept for ever, come compressed, and are open to everybody', async () => {
    const { text } = await (await as('admin')).get('/admin')
    const src = /src="(\/admin\/assets\/main-[^"]+)"/.exec(text)?.[1] ?? ''
    const browser = await as()
    const zipped = await browser.get(src, { headers: { 'accept-encoding': 'gzip' } })
    const plain = await browser.get(src, { headers: { 'accept-encoding': 'identity' } })
    expect(zipped.status).toBe(200)
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(zipped.text).toBe(plain.text)
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('come compressed with brotli, once that is done, to a browser that accepts it', async () => {
    const { text } = await (await as('admin')).get('/admin')
    const src = /src="(\/admin\/assets\/main-[^"]+)"/.exec(text)?.[1] ?? ''
    const browser = await as()
    const get = (accepted: string) => browser.get(src, { headers: { 'accept-encoding': accepted } })
    const codingFor = async (accepted: string) => (await get(accepted)).headers.get('content-encoding')
    await expect.poll(() => codingFor('gzip, deflate, br, zstd'), { timeout: 20_000 }).toBe('br')
    const brotli = await get('br;q=0.9')
    expect(brotli.headers.get('vary')).toBe('Accept-Encoding')
    expect(brotli.text).toBe((await get('identity')).text)
    const refused = await Promise.all(['gzip, br;q=0', 'br; q=0.0, gzip;q=1', 'gzip', 'brx', 'br;q=0'].map(codingFor))
    expect(refused).toEqual(['gzip', 'gzip', 'gzip', null, null])
  })

  test.each(['manifest.json', '..%2f..%2fpackage.json', '%2e%2e%2fmanifest.json', 'main.js', '__proto__'])(
    'are those that were built, and %s is none',
    async (name) => {
      expect((await (await as('admin')).get(`/admin/assets/${name}`)).status).toBe(404)
    },
  )
})
