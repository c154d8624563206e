import { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it, vi } from 'vitest'
import { SessmgrError } from '../../../src/index.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { sessionData } from '../../support/guard-world.ts'
import { clientRequest, createLoginHost } from '../../support/login-host.ts'

const PAGE = { url: '/login/choose', seconds: 300, showsIp: true, secretInBody: true }

/** A request of a visitor with a cart, and the cookies that its response gets. */
function visitor() {
  const response = new ServerResponse(new IncomingMessage(null as never))
  const request = clientRequest(sessionData({ cart: 1 }))
  request.givenResponse = response
  return { request, cookies: () => [response.writeHead(303).getHeader('Set-Cookie') ?? []].flat() }
}

async function choiceOf(login: Promise<void>) {
  const error = await login.then(
    () => new Error('admitted'),
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(SessmgrError)
  expect(error).toMatchObject({ code: 'login_choice_required', status: 409 })
  return error as SessmgrError & { choice: NonNullable<SessmgrError['choice']> }
}

it('a login that needs a choice tells how many must end and where they are, and changes nothing else', async () => {
  const host = createLoginHost({ settings: { maximum: 2, logic: 'ask' } }, PAGE)
  for (const id of ['a', 'b']) await host.signIn(id, 7)
  await host.limiter.settings.update({ maximum: 1 })
  const { request, cookies } = visitor()
  const logIn = vi.fn()
  const { message, choice } = await choiceOf(host.login(request, 7, { logIn }))
  expect(message).toContain('Choose 2 to sign out.')
  expect(choice).toMatchObject({ need: 2, maximum: 1, pending: expect.stringMatching(/^[\w-]{43}\.[\w-]+$/) })
  const times = { createdAt: expect.any(Number), lastSeenAt: expect.any(Number) }
  const sessions = ['a', 'b'].map((id) => ({ token: tokenOf(id), device: null, ip: null, ...times }))
  expect(choice.sessions).toEqual(sessions)
  expect([logIn.mock.calls, await host.registered(7), cookies().length]).toEqual([[], ['a', 'b'], 1])
  expect(request).toMatchObject({ sessionID: 'before', session: { cart: 1 } })
})

it('a choice is not opened again by the login that continues it', async () => {
  const host = createLoginHost({ settings: { maximum: 1, logic: 'ask' } }, PAGE)
  await host.signIn('a', 7)
  const { request, cookies } = visitor()
  request.chosen = [tokenOf('gone')]
  const { choice } = await choiceOf(host.login(request, 7))
  expect([choice.need, choice.pending, cookies()]).toEqual([1, undefined, []])
})
