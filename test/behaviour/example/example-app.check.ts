import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Answer } from '../../support/browser.ts'
import { createExample, ExampleApp } from '../../support/example-app.ts'

const JSON_CLIENT = { accept: 'application/json' }
const DAY = 24 * 60 * 60_000

async function startExample(env: Record<string, string> = {}): Promise<ExampleApp> {
  const example = await ExampleApp.start(env)
  onTestFinished(() => example.stop())
  return example
}

/** Days until the cookie that an answer sets expires. */
function cookieDays({ setCookies }: Answer): number {
  const expires = /Expires=([^;]+)/.exec(setCookies[0] ?? '')?.[1] ?? ''
  return Math.round((new Date(expires).getTime() - Date.now()) / DAY)
}

let example: ExampleApp
beforeAll(async () => {
  // A limit that no test below reaches; those about the limit start an application of their own.
  example = await ExampleApp.start({ SESSMGR_MAXIMUM: '1000', SEED_USERS: '3' })
})
afterAll(() => example.stop())

describe('signing in', () => {
  test('takes login or e-mail in any case, and gives the seeded users their ids', async () => {
    for (const [login, id] of Object.entries({ alice: 2, user1: 1001, user3: 1003 })) {
      for (const name of [`${login}@example.test`, ` ${login.toUpperCase()} `]) {
        const browser = example.browser()
        const answer = await browser.post('/login', { username: name, password: `${login}-password` })
        expect([name, answer.status, answer.location]).toEqual([name, 302, '/'])
        expect((await browser.get('/me')).json()).toEqual({ id, login })
      }
    }
  })

  test('a wrong password goes back to the form, which shows the message once, and keeps name and target', async () => {
    const browser = example.browser()
    expect((await browser.get('/admin')).location).toBe('/login?redirect_to=%2Fadmin')
    const answer = await browser.post('/login', { username: 'ali"ce', password: 'wrong', redirect_to: '/admin' })
    expect([answer.status, answer.location]).toEqual([302, '/login?redirect_to=%2Fadmin'])
    const { text } = await browser.get(answer.location ?? '')
    expect(text).toContain('role="alert"')
    expect(text).toContain('name="username" autocomplete="username" value="ali&#34;ce"')
    expect(text).toContain('name="redirect_to" value="/admin"')
    expect((await browser.get('/login')).text).not.toMatch(/role="alert"|ali&#34;ce/)
    expect(await browser.me()).toBe(401)
  })

  test('a script gets JSON', async () => {
    const right = await example.login(example.browser(), 'alice', {}, JSON_CLIENT)
    expect(right.status).toBe(200)
    expect(right.json()).toEqual({ user: { id: 2, login: 'alice', display_name: 'Alice' } })
    const wrong = await example.browser().post('/login', { username: 'alice', password: 'wrong' }, JSON_CLIENT)
    expect(wrong.status).toBe(401)
    expect(wrong.json()).toEqual({ code: 'wrong_credentials', message: expect.any(String), data: { status: 401 } })
  })

  test('lasts 2 days, and 14 with Remember Me', async () => {
    const answers = [
      await example.login(example.browser(), 'alice'),
      await example.login(example.browser(), 'alice', { remember: '1' }),
      await example.login(example.browser(), 'alice', { remember: '1' }, JSON_CLIENT),
    ]
    expect(answers.map(cookieDays)).toEqual([2, 14, 14])
    for (const { setCookies } of answers) expect(setCookies[0]).toMatch(/; HttpOnly; SameSite=Lax$/)
  })

  test('the page leads administrators to the screen, and a logout leads to the start', async () => {
    const browser = await example.signedIn('bob')
    expect((await browser.get('/')).text).not.toContain('<a href="/admin">')
    expect((await (await example.signedIn('admin')).get('/')).text).toContain('<a href="/admin">')
    expect((await browser.post('/logout')).location).toBe('/')
    const me = await browser.get('/me')
    expect([me.status, me.json().code]).toEqual([401, 'not_signed_in'])
  })

  test('leads on to redirect_to on this site, and to no other', async () => {
    const own = ['/admin/sessions?user=bob', '/posts/1#respond']
    for (const given of [
      ...own,
      '//evil.test/',
      '/\\evil.test/',
      'https://evil.test/',
      '/.//evil.test',
      'javascript:x',
      '',
    ]) {
      const form = { username: 'alice', password: 'alice-password', redirect_to: given }
      const answer = await example.browser().post('/login', form)
      expect([given, answer.status, answer.location]).toEqual([given, 302, own.includes(given) ? given : '/'])
    }
  })
})

test('a comment of somebody who was signed out meanwhile comes back in the form, with the reason', async () => {
  const walk = await startExample()
  const laptop = await walk.signedIn('bob')
  await walk.signedIn('bob')
  const script = await laptop.get('/me', { headers: { 'Sec-Fetch-Mode': 'cors' } })
  // Decision 71: the session's cookie stays as it is.
  expect([script.status, script.setCookies]).toEqual([401, [expect.stringMatching(/^sessmgr_notice=[\da-f]{64};/)]])
  const answer = await laptop.post('/posts/2/comments', { text: 'Long <thought>.' })
  expect(answer.status).toBe(400)
  expect(answer.text).toContain('You are no longer signed in here.')
  expect(answer.text).toContain('>Long &lt;thought&gt;.</textarea>')
  expect(answer.text).toContain('name="author"')
  expect(answer.text).toContain('href="/login?redirect_to=%2Fposts%2F2"')
  expect((await laptop.post('/posts/2/comments', { text: 'Long thought.', author: 'Bob' })).status).toBe(302)
})

test('SEED_SESSIONS signs users in from various devices and addresses, up to the limit, and leaves the admin a place', async () => {
  const seed = async (env: Record<string, string>, counts: readonly number[]) => {
    const { limiter } = await startExample(env)
    const all = () => Promise.all([1, 2, 3, 4].map((id) => limiter.sessions.list(id)))
    await expect.poll(async () => (await all()).map(({ length }) => length)).toEqual(counts)
    return (await all()).flat()
  }
  const sessions = await seed({ SEED_SESSIONS: '12', SESSMGR_MAXIMUM: '9' }, [6, 2, 2, 2])
  expect(new Set(sessions.map(({ userAgent }) => userAgent)).size).toBe(5)
  expect(new Set(sessions.map(({ ip }) => ip)).size).toBe(12)
  await seed({ SEED_SESSIONS: '30', SESSMGR_MAXIMUM: '3', SESSMGR_LOGIC: 'block' }, [2, 3, 3, 3])
})

test('a wrong variable is refused at the start, in words, and a right one becomes its setting', async () => {
  await expect(createExample({ SESSMGR_MAXIMUM: '0' })).rejects.toThrow('"settings.maximum" must be a whole number')
  await expect(createExample({ SESSMGR_LOGIC: 'blok' })).rejects.toThrow('Did you mean "block"?')
  const { limiter } = await startExample({ SESSMGR_LOGIC: 'ask', SESSMGR_IDLE_RELEASE: '3600' })
  expect(await limiter.settings.get()).toMatchObject({ logic: 'ask', idle_release: 3600 })
})
