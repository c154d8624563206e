import express, { type Request, type Response } from 'express'
import session from 'express-session'
import { describe, expect, test } from 'vitest'
import {
  type ChoiceView,
  type Host,
  memoryStore,
  type PasswordAttempts,
  type Sessmgr,
  SessmgrError,
  sessmgr,
} from '../../../src/index.ts'
import { Browser, textOf } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'
import { findUserById } from '../../support/users.ts'
import { asked, BOB, CHOOSE, choosing, proofIn, signedIn, startAskingHost, tokenOn } from './choice-host.ts'

/** A host whose users are the demo users, with limits on attempts. */
function hostWith(attempts: PasswordAttempts): Host {
  const users = { findById: findUserById, findByEmail() {}, findByLogin() {} }
  return { users: { ...users, summary: (user) => user }, can: () => false, attempts } as Host
}

/** Logs bob in, or sends him where he chooses. */
const loggingIn = (limiter: Sessmgr) => (request: Request, response: Response) =>
  limiter.login(request, { id: BOB }).then(
    () => void response.json({}),
    (error: SessmgrError) => response.redirect(error.choice?.url ?? '/'),
  )

describe('an option of the choice page', () => {
  test('verify asks for a second proof before anything ends, and a wrong one leaves the choice open', async () => {
    const given: unknown[] = []
    const host = await startAskingHost(1, {
      field: { name: 'pin', label: 'Code from the <e-mail>' },
      verify: (_request: Request, user: Express.User, fields) => {
        given.push([user.login, fields.pin])
        return fields.pin === '42'
      },
    })
    const [windows] = await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    expect(page.text).toContain('<label for="proof-field">Code from the &lt;e-mail&gt;</label>')
    const form = { proof: proofIn(page), end: tokenOn(page) }
    const empty = await phone.post(CHOOSE, form)
    expect([empty.status, textOf(empty), given]).toEqual([403, expect.stringContaining('That is wrong.'), []])
    expect(empty.text).toContain('autofocus required aria-invalid="true" aria-describedby="proof-field-error"')
    expect((await phone.post(CHOOSE, { ...form, pin: '1' })).status).toBe(403)
    expect([await windows?.me(), await phone.me()]).toEqual([200, 401])
    expect((await phone.post(CHOOSE, { ...form, pin: '42' })).location).toBe('/')
    expect(given).toEqual([
      ['bob', '1'],
      ['bob', '42'],
    ])
    const [guesser, another] = await asked(host, 'linux')
    const guess = (pin: string) => guesser.post(CHOOSE, { proof: proofIn(another), end: tokenOn(another), pin })
    const guesses = [await guess('1'), await guess('2'), await guess('3'), await guess('4')]
    expect(guesses.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(await phone.me()).toBe(200)
    expect((await guess('42')).location).toBe('/')
  })

  test('rule 85: attempts limits second proofs of the user, over all logins; a new login still shows the page', async () => {
    const checked: unknown[] = []
    const failed: unknown[] = []
    const host = await startAskingHost(
      1,
      {
        attempts: { count: 2, minutes: 10 },
        verify: (_request: Request, _user: Express.User, { code }) => {
          checked.push(code)
          return code === '42'
        },
      },
      { host: hostWith({ allow: () => true, failed: (attempt) => failed.push(attempt) }) },
    )
    await signedIn(host, 'windows')
    const guess = async (code: string) => {
      const [browser, page] = await asked(host)
      expect(page.status).toBe(200)
      return [browser, await browser.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page), code })] as const
    }
    expect([(await guess('1'))[1].status, (await guess('2'))[1].status]).toEqual([403, 403])
    const [phone, often] = await guess('42')
    expect([often.status, Number(often.headers.get('retry-after')) > 500]).toEqual([429, true])
    expect(textOf(often)).toMatch(/Your code Too many attempts\. Try again at \d\d:\d\d UTC\./)
    expect(often.text).toContain('aria-invalid="true"')
    expect([checked, await phone.me()]).toEqual([['1', '2'], 401])
    expect(failed).toEqual([expect.objectContaining({ name: 'bob' }), expect.objectContaining({ name: 'bob' })])
    await host.limiter.sessions.endAll(BOB)
    await signedIn(host, 'windows')
    expect((await guess('42'))[1].status).toBe(429)
  })

  test('verify is not called while host.attempts refuses, and the login stays open', async () => {
    let isAllowed = false
    const host = await startAskingHost(
      1,
      { verify: (_request: Request, _user: Express.User, { code }) => code === '42' },
      { host: hostWith({ allow: () => isAllowed, failed() {} }) },
    )
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    const form = { proof: proofIn(page), end: tokenOn(page), code: '42' }
    const often = await phone.post(CHOOSE, form)
    expect([often.status, often.headers.get('retry-after')]).toEqual([429, '60'])
    expect(textOf(often)).toContain('Too many attempts. Try again later.')
    const json = await phone.request('POST', CHOOSE, { json: { end: form.end, code: '42' } })
    expect([json.status, json.json()]).toEqual([429, expect.objectContaining({ code: 'too_many_attempts' })])
    isAllowed = true
    expect((await phone.post(CHOOSE, form)).location).toBe('/')
  })

  test('verify that fails, and complete that fails, end nothing', async () => {
    const broken = () => Promise.reject(new Error('the mail server is away'))
    for (const option of [{ verify: broken }, { complete: broken }, { complete: () => {} }]) {
      const host = await startAskingHost(1, option)
      const [windows] = await signedIn(host, 'windows')
      const [phone, page] = await asked(host)
      const form = { proof: proofIn(page), end: tokenOn(page), code: '1' }
      expect([(await phone.copy().post(CHOOSE, form)).status, host.errors.length]).toEqual([500, 1])
      expect([await windows?.me(), await phone.me()]).toEqual([200, 401])
    }
    // Nor is it a login if somebody else is signed in.
    const host = await startAskingHost(1, { complete: () => {} })
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    await phone.login('alice')
    const answer = await phone.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })
    expect([answer.status, String(host.errors[0])]).toEqual([500, expect.stringContaining('must sign the user in')])
    expect(await host.limiter.sessions.count(BOB)).toBe(1)
  })

  test('rule 85: a proof that could not be checked, and a second click, count for nothing', async () => {
    let isAway = true
    const verify = async (_request: Request, _user: Express.User, { code }: Record<string, unknown>) => {
      if (isAway) throw new Error('the database is away')
      return code === '42'
    }
    const host = await startAskingHost(1, { attempts: { count: 2, minutes: 10 }, verify })
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    const form = { proof: proofIn(page), end: tokenOn(page), code: '42' }
    expect((await phone.post(CHOOSE, form)).status).toBe(500)
    isAway = false
    const clicks = await Promise.all([phone.copy().post(CHOOSE, form), phone.copy().post(CHOOSE, form)])
    expect(clicks.filter(({ location }) => location === '/')).toHaveLength(1)
    const [other, again] = await asked(host)
    const right = { proof: proofIn(again), end: tokenOn(again), code: '42' }
    expect((await other.post(CHOOSE, right)).location).toBe('/')
  })

  test('complete signs the user in, and may answer itself', async () => {
    const host = await startAskingHost(1, {
      complete: (request: Request, response: Response, user: Express.User) =>
        new Promise<void>((resolve, reject) => {
          request.logIn(user, (error) => {
            if (error) return reject(error)
            response.redirect(`/welcome/${user.login}`)
            resolve()
          })
        }),
    })
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    const answer = await phone.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })
    expect([answer.location, await phone.me()]).toEqual(['/welcome/bob', 200])
    expect(await host.limiter.sessions.count(BOB)).toBe(1)
  })

  test('complete gets the id alone without host', async () => {
    const limiter = sessmgr({ settings: { maximum: 1, logic: 'ask' }, logger: { warn() {}, error() {} } })
    const ids: unknown[] = []
    const complete = (request: Request, _response: Response, user: { id: number }) => {
      ids.push(user)
      return limiter.login(request, user)
    }
    const app = express()
    app.use(session({ secret: 'test', resave: false, saveUninitialized: false, store: new TestStore() }), limiter)
    app.use(CHOOSE, limiter.choice({ complete }))
    app.post('/login', loggingIn(limiter))
    const origin = await listen(app)
    await new Browser(origin).post('/login')
    const phone = new Browser(origin)
    await phone.post('/login')
    const page = await phone.get(CHOOSE)
    expect((await phone.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })).location).toBe('/')
    expect([ids, await limiter.sessions.count(BOB)]).toEqual([[{ id: BOB }], 1])
  })

  test('url is the path in the browser, even if a proxy removes a prefix', async () => {
    const settings = { maximum: 1, logic: 'ask' }
    const limiter = sessmgr({ settings, logger: { warn() {}, error() {} } })
    const views: ChoiceView[] = []
    const complete = (request: Request, _response: Response, user: { id: number }) => limiter.login(request, user)
    const render = (view: ChoiceView) => {
      views.push(view)
      return view.html
    }
    const app = express()
    app.use(session({ secret: 'test', resave: false, saveUninitialized: false, store: new TestStore() }), limiter)
    const choice = { url: `/app${CHOOSE}`, loginUrl: '/app/login', successRedirect: '/app', complete, render }
    app.use(CHOOSE, limiter.choice(choice))
    app.post('/login', loggingIn(limiter))
    const origin = await listen((request, response) => {
      if (!request.url?.startsWith('/app/')) return response.writeHead(404).end()
      request.url = request.url.slice('/app'.length)
      app(request, response)
    })
    await new Browser(origin).post('/app/login')
    const phone = new Browser(origin)
    const { location } = await phone.post('/app/login')
    const page = await phone.get(location ?? '')
    const action = /<form[^>]* action="([^"]*)"/.exec(page.text)?.[1]
    expect([location, page.status, action, views[0]?.action]).toEqual([choice.url, 200, choice.url, choice.url])
    expect((await phone.post(action ?? '', { proof: proofIn(page), end: tokenOn(page) })).location).toBe('/app')
  })

  test('cooldown refuses further choices of the user for a while, until their password changes', async () => {
    const host = await startAskingHost(1, { cooldown: { count: 2, minutes: 60 } })
    await signedIn(host, 'windows')
    for (const device of ['linux', 'iphone'] as const) {
      const [browser, page] = await asked(host, device)
      expect((await browser.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })).location).toBe('/')
    }
    const [phone, often] = await asked(host)
    expect(often.status).toBe(429)
    expect(textOf(often)).toMatch(/changed devices too often Try again at \d\d:\d\d UTC, or change your password\./)
    const [live] = await host.limiter.sessions.list(BOB)
    const answer = await phone.request('POST', CHOOSE, { json: { end: live?.token } })
    expect([answer.status, answer.json().code]).toEqual([429, 'too_many_attempts'])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3000)
    await host.limiter.sessions.endOthers(BOB, live?.token ?? '')
    expect((await asked(host))[1].status).toBe(200)
  })

  test('render puts the content into a layout, which has its own policy', async () => {
    const views: ChoiceView[] = []
    const host = await startAskingHost(2, {
      render: (view) => {
        views.push(view)
        return `<main class="own">${view.html}</main>`
      },
      show: { ip: true },
      texts: { choice_title: 'Which <one>?' },
    })
    await signedIn(host, 'windows', 'linux')
    const [, page] = await asked(host)
    expect(textOf(page)).toContain('127.0.0.1')
    expect(page.text).toMatch(/^<main class="own"><header><h1 tabindex="-1" autofocus>Which &lt;one&gt;\?/)
    expect(page.headers.get('content-security-policy')).toBe("frame-ancestors 'none'")
    const [view] = views
    expect(view).toMatchObject({ page: 'choose', title: 'Which <one>?', action: CHOOSE, proof: proofIn(page) })
    expect(view?.devices?.rows.map(({ device }) => device)).toEqual(['Chrome on Windows', 'Firefox on Linux'])
  })
})

describe('the choice', () => {
  test('leads to where Passport would return to', async () => {
    const host = await startExpressHost({
      sessmgr: { settings: { maximum: 1, logic: 'ask' } },
      choice: {},
      authenticate: { failureRedirect: '/login' },
      further: ({ app }) =>
        app.get('/private', (request, response) => {
          Object.assign(request.session, { returnTo: '/private?page=2' })
          response.redirect('/login')
        }),
    })
    await signedIn(host, 'windows')
    const [phone] = await asked(host)
    await phone.get('/private')
    const page = await phone.get(CHOOSE)
    const answer = await phone.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })
    expect([answer.location, await phone.me()]).toEqual(['/private?page=2', 200])
  })

  test('that loses a race is asked again, and keeps what was chosen and its end', async () => {
    let steal = async () => {}
    const host = await startAskingHost(1, {
      complete: async (request: Request, _response: Response, user: Express.User) => {
        await steal()
        await new Promise<void>((resolve, reject) =>
          request.logIn(user, (error) => (error ? reject(error) : resolve())),
        )
      },
    })
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    const form = { proof: proofIn(page), end: tokenOn(page) }
    steal = async () => {
      await host.limiter.sessions.end(BOB, form.end)
      await signedIn(host, 'linux')
      steal = async () => {}
    }
    const changed = await phone.post(CHOOSE, form)
    expect([changed.status, textOf(changed)]).toEqual([409, expect.stringContaining('Something has changed')])
    expect([textOf(changed).includes('Firefox on Linux'), await phone.me()]).toEqual([true, 401])

    steal = async () => {
      const [live] = await host.limiter.sessions.list(BOB)
      await host.limiter.sessions.end(BOB, live?.token ?? '')
      await signedIn(host, 'windows')
      steal = async () => {}
    }
    const again = await phone.request('POST', CHOOSE, { json: { end: tokenOn(changed) } })
    const { code, data } = again.json<{ code: string; data: { need: number; sessions: { token: string }[] } }>()
    expect([again.status, code, data.need]).toEqual([409, 'login_choice_required', 1])
    const last = await phone.request('POST', CHOOSE, { json: { end: data.sessions[0]?.token } })
    expect([last.status, await phone.me()]).toEqual([200, 200])
  })

  test('is a page that asks to try again while the store is away, before and after', async () => {
    const store = memoryStore()
    const host = await startAskingHost(1, {}, { store })
    const [windows] = await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    const form = { proof: proofIn(page), end: tokenOn(page) }
    const { changeState } = store.sessions
    store.sessions.changeState = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is away.'))
    for (const away of [await phone.get(CHOOSE), await phone.post(CHOOSE, form)]) {
      expect([away.status, away.headers.get('retry-after')]).toEqual([503, '2'])
      expect(textOf(away)).toContain('You are not signed in Nothing was signed out. Try again in a moment.')
    }
    const json = await phone.request('POST', CHOOSE, { json: { end: form.end } })
    expect([json.status, json.json().code]).toEqual([503, 'store_unavailable'])
    store.sessions.changeState = changeState
    const { commit } = store.sessions
    store.sessions.commit = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is away.'))
    const spent = await phone.post(CHOOSE, form)
    expect([spent.status, textOf(spent)]).toEqual([503, expect.stringContaining('Please sign in again. Sign in')])
    store.sessions.commit = commit
    expect((await phone.post(CHOOSE, form)).location).toMatch(/^\/login\?choice=/)
    expect([await windows?.me(), await phone.me()]).toEqual([200, 401])
  })

  test('shows ten devices at first, those unused for longest', async () => {
    const host = await startAskingHost(14)
    await signedIn(host, ...Array.from({ length: 14 }, () => 'windows' as const))
    const [phone, page] = await asked(host)
    const [shown = '', hidden = ''] = page.text.split('<details>')
    expect([shown, hidden].map((part) => part.match(/name="end"/g)?.length)).toEqual([10, 4])
    expect(hidden).toMatch(/^<summary>Show all 14<\/summary>/)
    const [oldest] = await host.limiter.sessions.list(BOB)
    expect(tokenOn(page)).toBe(oldest?.token)
    expect((await phone.post(CHOOSE, choosing(page, 'Chrome on Windows'))).location).toBe('/')
  })

  test('a user who is gone has to sign in again', async () => {
    const isGone = { value: false }
    const users = {
      findById: (id: number) => (isGone.value ? undefined : findUserById(Number(id))),
      findByEmail: () => undefined,
      findByLogin: () => undefined,
      summary: (user: Express.User) => ({ id: user.id ?? 0, login: user.login, display_name: user.login }),
    }
    const host = await startAskingHost(1, {}, { host: { users, can: () => false } })
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    isGone.value = true
    const script = phone.copy()
    const answer = await phone.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })
    expect([answer.location, answer.text]).toEqual(['/login?choice=expired', 'Sign in first.'])
    isGone.value = false
    expect((await script.request('POST', CHOOSE, { json: { all: true } })).status).toBe(410)
  })
})
