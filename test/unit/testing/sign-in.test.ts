import supertest from 'supertest'
import { expect, it } from 'vitest'
import { type SignInAgent, type SignInRequest, type SignInResponse, signIn } from '../../../src/testing/sign-in.ts'

const ALICE = { username: 'alice', password: 'secret' }

/** An agent whose every request gets this response; `sent` has what it was asked to send. */
function agentWith(response: Partial<SignInResponse>): SignInAgent & { readonly sent: unknown[] } {
  const sent: unknown[] = []
  const request: SignInRequest = Object.assign(Promise.resolve({ status: 200, headers: {}, body: {}, ...response }), {
    type(type: string) {
      sent.push(type)
      return request
    },
    send(fields: object) {
      sent.push(fields)
      return request
    },
  })
  const post = (path: string) => {
    sent.push(path)
    return request
  }
  return { sent, post }
}

const COOKIE = { 'set-cookie': ['sid=abc; Path=/; HttpOnly'] }

it('posts a form to /login, or what the options say, and returns the response', async () => {
  const form = agentWith({ status: 302, headers: { ...COOKIE, location: '/' } })
  expect(await signIn(form, ALICE)).toMatchObject({ status: 302 })
  expect(form.sent).toEqual(['/login', 'form', ALICE])
  const json = agentWith({ headers: { 'set-cookie': 'sid=abc' } })
  await signIn(json, ALICE, { path: '/api/session', type: 'json' })
  expect(json.sent).toEqual(['/api/session', 'json', ALICE])
})

it('rejects what is no login', async () => {
  const choosing = { status: 303, headers: { 'set-cookie': '__Host-sessmgr_pending=abc', location: '/login/choose' } }
  for (const [message, response] of [
    ['POST /login responded with 401.', { status: 401 }],
    ['responded with 403 login_limit_reached.', { status: 403, body: { code: 'login_limit_reached' } }],
    ['redirected back: the login was refused.', { status: 302, headers: { ...COOKIE, location: '/login?e=1' } }],
    ['made the user choose which sessions end.', choosing],
    ['POST /login set no cookie', { headers: {} }],
    [
      'POST /login set no cookie',
      { headers: { 'set-cookie': ['sid=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT'] } },
    ],
  ] as const) {
    await expect(signIn(agentWith(response as never), ALICE)).rejects.toThrow(message)
  }
})

it('rejects request(app), which would forget the cookie', async () => {
  const app = () => expect.unreachable('nothing is sent')
  await expect(signIn(supertest(app), ALICE)).rejects.toThrow('request.agent(app), not request(app)')
})
