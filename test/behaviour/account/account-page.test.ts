import { describe, expect, test } from 'vitest'
import { type Answer, textOf } from '../../support/browser.ts'
import { formIn, HOSTS, PAGE, signIn, submit } from './account-hosts.ts'

const settings = { maximum: 5, logic: 'block' }

/** Everything that a server answered, except the time, which is also in the expiry of a cookie. */
const withoutDate = ({ status, text, headers }: Answer) => ({
  status,
  text,
  headers: [...headers]
    .filter(([name]) => name !== 'date')
    .map(([name, value]) => [name, value.replace(/; Expires=[^;]*/, '')]),
})

describe.each(Object.keys(HOSTS) as (keyof typeof HOSTS)[])('on %s', (kind) => {
  const start = (account = {}) => HOSTS[kind]({ settings }, account)

  test('a user sees their sessions, and ends one, which is told once, and then all others after a page that asks', async () => {
    const host = await start()
    const [here, phone] = [await signIn(host, 'windows'), await signIn(host, 'iphone')]
    const page = await here.get(PAGE)
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(textOf(page)).toMatch(/on 2 of 5 devices\. .*This device Chrome on Windows .*Other devices Safari on iPhone/)
    const form = formIn(page, 'Safari on iPhone')
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      expect((await here.post(PAGE, form, headers)).status).toBe(403)
    }
    expect(await phone.me()).toBe(200)
    const after = await submit(here, form)
    expect(textOf(after)).toContain('Signed out on Safari on iPhone. It takes effect there on the next click.')
    expect(textOf(after)).toContain('on 1 of 5 devices. You are not signed in anywhere else.')
    expect(textOf(await here.get(PAGE))).not.toContain('Signed out on')
    expect([await here.me(), await phone.me()]).toEqual([200, 401])

    const others = [await signIn(host, 'linux'), await signIn(host, 'iphone')]
    const question = await here.get(`${PAGE}?confirm`)
    expect(textOf(question)).toMatch(
      /2 devices will be signed out when they are next used: .*You will stay signed in here\./,
    )
    const last = await submit(here, { proof: formIn(question).proof, others: '1' })
    expect(textOf(last)).toContain('Signed out on 2 other devices.')
    expect(await Promise.all([here, ...others].map((browser) => browser.me()))).toEqual([200, 401, 401])
  })

  test('a guest is sent to the login, also with a form', async () => {
    const host = await start({ loginUrl: '/sign-in?from=here' })
    const stranger = host.browser()
    for (const answer of [await stranger.get(PAGE), await stranger.post(PAGE, { others: '1' })]) {
      expect([answer.status, answer.location]).toEqual([303, '/sign-in?from=here&redirect_to=%2Faccount%2Fsessions'])
    }
  })

  test('the REST routes list and end own sessions, and tell once why one is over', async () => {
    const host = await start()
    const [here, phone] = [await signIn(host, 'windows'), await signIn(host, 'iphone')]
    await signIn(host, 'linux')
    const headers = { 'x-host-nonce': (await here.get('/nonce')).text }
    const list = (await here.get('/api/sessmgr/v1/me/sessions', { headers })).json()
    expect(list).toMatchObject({ count: 3, maximum: 5, mode: 'block', step_up: 'none' })
    const rows = list.sessions as { token: string; device: string; current: boolean }[]
    expect(rows.find(({ current }) => current)).toMatchObject({ device: 'Chrome on Windows', kind: 'computer' })
    const send = (path: string, json: object) => here.request('POST', `/api/sessmgr/v1/me/${path}`, { headers, json })
    const { token } = rows.find(({ device }) => device === 'Safari on iPhone') ?? { token: '' }
    expect((await send('sessions/end', { token })).json()).toEqual({ ended: true })
    await signIn(host, 'linux', 'alice')
    const foreign = (await host.limiter.sessions.list(2))[0]?.token
    const refused = await Promise.all(
      [token, foreign, 'f'.repeat(64)].map(async (other) => withoutDate(await send('sessions/end', { token: other }))),
    )
    expect(refused[0]).toMatchObject({ status: 404, text: expect.stringContaining('"session_not_found"') })
    expect(refused).toEqual([refused[0], refused[0], refused[0]])
    expect(await host.limiter.sessions.count(2)).toBe(1)
    const own = await send('sessions/end', { token: rows.find(({ current }) => current)?.token })
    expect([own.status, own.json().code]).toEqual([409, 'session_is_current'])
    expect((await send('sessions/end-others', {})).json()).toEqual({ ended: 1 })
    expect((await send('reauthenticate', { password: 'secret' })).status).toBe(404)
    if (kind === 'explicit calls') return
    const asScript = { headers: { 'sec-fetch-mode': 'cors' } }
    for (const [other, carried] of [
      [phone.copy(), {}],
      [phone, asScript],
    ] as const) {
      const notice = await other.get('/api/sessmgr/v1/me/notice', carried)
      expect(notice.json()).toMatchObject({ kind: 'user', device: 'Chrome on Windows' })
      const second = await other.get('/api/sessmgr/v1/me/notice', carried)
      expect(second.json()).toEqual(notice.json())
    }
  })
})

test("another user's session is answered as an unknown one, and stays", async () => {
  const host = await HOSTS.Express({ settings }, {})
  const [here, stranger] = [await signIn(host, 'windows'), await signIn(host, 'linux', 'alice')]
  await signIn(host, 'iphone')
  const { proof } = formIn(await here.get(PAGE))
  const foreign = (await host.limiter.sessions.list(2))[0]?.token ?? ''
  const answers = await Promise.all([foreign, 'f'.repeat(64)].map((end) => here.copy().post(PAGE, { proof, end })))
  expect(new Set(answers.map(({ status, location }) => `${status} ${location}`)).size).toBe(1)
  expect(textOf(await submit(here, { proof, end: foreign }))).toContain('That device was already signed out.')
  expect(await stranger.me()).toBe(200)
})

test('over HTTPS, the result of a form is in a cookie that other subdomains cannot set', async () => {
  const host = await HOSTS.Express({ settings }, {})
  const here = await signIn(host, 'windows')
  await signIn(host, 'iphone')
  const headers = { 'x-forwarded-proto': 'https' }
  const form = formIn(await here.get(PAGE, { headers }))
  const { setCookies } = await here.post(PAGE, form, headers)
  expect(setCookies).toEqual([
    expect.stringMatching(/^__Host-sessmgr_account=[^;]+; Max-Age=60; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
  ])
  const after = await here.get(PAGE, { headers })
  expect(textOf(after)).toContain('Signed out on Safari on iPhone.')
  expect(after.setCookies).toContainEqual(expect.stringMatching(/^__Host-sessmgr_account=; Max-Age=0;/))
})

test('a form is refused without its proof, and with that of another session', async () => {
  const host = await HOSTS.Express({ settings }, {})
  const [here, there] = [await signIn(host, 'windows'), await signIn(host, 'iphone')]
  const { proof, end } = formIn(await here.get(PAGE))
  const { proof: another } = formIn(await there.get(PAGE))
  for (const form of [{ end }, { proof: another, end }, { proof }]) {
    const answer = await here.post(PAGE, form)
    expect([answer.status, textOf(answer)]).toEqual([403, expect.stringContaining('This page has expired')])
  }
  expect(await there.me()).toBe(200)
})

test('signing out everywhere else stands below a short list, and above one of four sessions', async () => {
  const host = await HOSTS.Express({ settings }, {})
  const here = await signIn(host, 'windows')
  const linkAndList = async () => {
    const page = textOf(await here.get(PAGE))
    return [page.indexOf('Sign out everywhere else'), page.indexOf('Safari on iPhone')] as const
  }
  for (const _ of [2, 3]) await signIn(host, 'iphone')
  const [below, short] = await linkAndList()
  await signIn(host, 'iphone')
  const [above, long] = await linkAndList()
  expect(below).toBeGreaterThan(short)
  expect(above).toBeGreaterThan(0)
  expect(long).toBeGreaterThan(above)
})
