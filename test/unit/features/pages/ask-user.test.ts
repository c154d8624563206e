import { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { PENDING_COOKIE } from '../../../../src/features/pages/choice-page.ts'
import { SessmgrError } from '../../../../src/index.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { sessionData } from '../../../support/guard-world.ts'
import { clientRequest, createLoginHost } from '../../../support/login-host.ts'
import type { TestVisit } from '../../../support/test-visit.ts'

const PAGE = { url: '/login/choose', seconds: 300, showsIp: false, secretInBody: false }
const asking = (maximum: number) => ({ settings: { maximum, logic: 'ask' } })

/** A request, and the cookies that its response gets. */
function browserRequest(fields: object = {}) {
  const response = new ServerResponse(new IncomingMessage(null as never))
  const request = clientRequest(sessionData({ cart: 1, ...fields }))
  request.givenResponse = response
  const cookies = () => {
    if (!response.headersSent) response.writeHead(303)
    return [response.getHeader('Set-Cookie') ?? []].flat().map(String)
  }
  return { request, cookies }
}

/** The choice that a login is refused with. */
async function choiceOf(login: Promise<void>) {
  const error = await login.then(
    () => new Error('admitted'),
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(SessmgrError)
  expect(error).toMatchObject({ code: 'login_choice_required', status: 409 })
  return error as SessmgrError & { choice: NonNullable<SessmgrError['choice']> }
}

describe('a login that needs a choice', () => {
  it('waits in the browser, and has changed nothing else', async () => {
    const host = createLoginHost(asking(1), PAGE)
    await host.signIn('a', 7)
    const { request, cookies } = browserRequest()
    const logIn = vi.fn()
    const { message, choice } = await choiceOf(host.login(request, 7, { logIn }))
    const times = { createdAt: expect.any(Number), lastSeenAt: expect.any(Number) }
    expect(message).toBe('This account is already signed in on the maximum number of devices. Choose one to sign out.')
    expect(choice).toEqual({
      url: '/login/choose',
      need: 1,
      maximum: 1,
      expiresIn: 300,
      sessions: [{ token: tokenOf('a'), device: null, ...times }],
    })
    expect([logIn.mock.calls, await host.registered(7)]).toEqual([[], ['a']])
    expect(request).toMatchObject({ sessionID: 'before', session: { cart: 1 } })
    const [cookie = '', ...others] = cookies()
    expect(cookie).toMatch(/^sessmgr_pending=[\w.-]{46}; Max-Age=86700; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(others).toEqual([])
    const secret = PENDING_COOKIE.read(cookie.split(';')[0], request.cookieScope)
    expect(await host.pending.take(secret)).toMatchObject({ userId: 7 })
    expect(await host.pending.take(secret)).toBeUndefined()
  })

  it('has a cookie that no sibling domain can plant where the session is sent over HTTPS only', async () => {
    const host = createLoginHost(asking(1), PAGE)
    await host.signIn('a', 7)
    const { request, cookies } = browserRequest({ cookie: { secure: true } })
    await choiceOf(host.login(request, 7))
    expect(cookies()).toEqual([expect.stringMatching(/^__Host-sessmgr_pending=.*; Path=\/; HttpOnly; Secure/)])
    expect(PENDING_COOKIE.read('sessmgr_pending=planted', request.cookieScope)).toBeUndefined()
  })

  it('names how many must end, last used first, with addresses and the secret where the page has them', async () => {
    const host = createLoginHost(asking(2), { ...PAGE, showsIp: true, secretInBody: true })
    for (const id of ['a', 'b']) await host.signIn(id, 7)
    host.clock.advance(1000)
    await host.memory.sessions.touch(7, tokenOf('a'), 60_000)
    await host.limiter.settings.update({ maximum: 1 })
    const { message, choice } = await choiceOf(host.login(browserRequest().request, 7))
    expect(message).toContain('Choose 2 to sign out.')
    expect(choice).toMatchObject({ need: 2, maximum: 1, pending: expect.stringMatching(/^[\w-]{43}\.[\w-]+$/) })
    expect(choice.sessions.map(({ token, ip }) => [token, ip])).toEqual([
      [tokenOf('a'), null],
      [tokenOf('b'), null],
    ])
  })

  it('is not opened again by the login that continues it', async () => {
    const host = createLoginHost(asking(1), { ...PAGE, secretInBody: true })
    await host.signIn('a', 7)
    const { request, cookies } = browserRequest()
    request.chosen = [tokenOf('gone')]
    const { choice } = await choiceOf(host.login(request, 7))
    expect([choice.need, choice.pending, cookies()]).toEqual([1, undefined, []])
  })

  it('asks too when another login has taken the place in the meantime, and gives the visitor back', async () => {
    const host = createLoginHost(asking(1), PAGE)
    const { request, cookies } = browserRequest()
    const gate = host.store.holdNextWrite('new')
    const refused = choiceOf(host.login(request, 7))
    await gate.arrived
    await host.twin().signIn('a', 7)
    gate.open()
    expect((await refused).choice.sessions.map(({ token }) => token)).toEqual([tokenOf('a')])
    expect(request).toMatchObject({ sessionID: 'before', session: { cart: 1 } })
    expect([await host.registered(7), cookies().length]).toEqual([['a'], 1])
  })

  it('is refused as by mode block where no page asks', async () => {
    const host = createLoginHost(asking(1))
    await host.signIn('a', 7)
    await expect(host.login(clientRequest(), 7)).rejects.toMatchObject({
      code: 'login_limit_reached',
      choice: undefined,
    })
    expect(host.logged).toEqual([[expect.stringContaining('Mount limiter.choice().')]])
  })
})

it('the sessions that the user has chosen end with the login', async () => {
  const host = createLoginHost(asking(2), PAGE)
  for (const id of ['a', 'b']) await host.signIn(id, 7)
  const request: TestVisit = clientRequest()
  request.chosen = [tokenOf('a')]
  await host.login(request, 7)
  expect([await host.registered(7), host.store.ids().sort()]).toEqual([
    ['b', 'new'],
    ['b', 'new'],
  ])
})
