import { describe, expect, test } from 'vitest'
import type { ChoiceOptions } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import type { ExpressHost } from '../../support/express-host.ts'
import { BOB, CHOOSE, signedIn, startAskingHost } from './choice-host.ts'
import type { Choice } from './choice-hosts.ts'

/** What an answer to a refused login, or a refused choice, says. */
interface Refusal {
  readonly code: string
  readonly message: string
  readonly data: Choice & { readonly pending?: string }
}

const asJson = { accept: 'application/json' }

async function askedByJson(host: ExpressHost): Promise<[Browser, Refusal]> {
  const browser = host.browser()
  const answer = await browser.login('bob', asJson)
  expect(answer.status).toBe(409)
  return [browser, answer.json<Refusal>()]
}

async function startFull(choice: ChoiceOptions = {}): Promise<ExpressHost> {
  const host = await startAskingHost(2, choice)
  await signedIn(host, 'windows', 'linux')
  return host
}

const choose = (browser: Browser, json: object, headers = {}) => browser.request('POST', CHOOSE, { json, headers })

describe('a script', () => {
  test('gets the list with the refused login, and signs in by its choice', async () => {
    const host = await startFull()
    const [script, { code, data }] = await askedByJson(host)
    expect([code, data.need, data.maximum, data.expires_in, data.choice_url]).toEqual([
      'login_choice_required',
      1,
      2,
      300,
      CHOOSE,
    ])
    expect(data.pending).toBeUndefined()
    const { token } = data.sessions.find(({ device }) => device === 'Firefox on Linux') ?? { token: '' }
    const answer = await choose(script, { end: [token] })
    expect([answer.status, answer.json()]).toEqual([200, { signed_in: true, ended: 1 }])
    expect(await script.me()).toBe(200)
    const again = await choose(script, { end: [token] })
    expect([again.status, again.json<Refusal>().code]).toEqual([410, 'login_choice_expired'])
  })

  test('ends all, or gives up', async () => {
    const host = await startFull()
    const [quitter] = await askedByJson(host)
    expect((await choose(quitter, { cancel: true })).json()).toEqual({ signed_in: false, ended: 0 })
    expect((await choose(quitter, { all: true })).status).toBe(410)
    const [script] = await askedByJson(host)
    expect((await choose(script, { all: true })).json()).toEqual({ signed_in: true, ended: 2 })
    expect(await host.limiter.sessions.count(BOB)).toBe(1)
  })

  test('a foreign token beside enough of its own ends nothing', async () => {
    const host = await startFull()
    await host.browser().login('alice', asJson)
    const [foreign] = await host.limiter.sessions.list(2)
    const [script, { data }] = await askedByJson(host)
    const end = [foreign?.token, data.sessions[0]?.token]
    expect((await choose(script, { end })).json()).toEqual({ signed_in: true, ended: 1 })
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  test('sends no valid JSON, and is told so', async () => {
    const host = await startFull()
    const [script] = await askedByJson(host)
    const headers = { 'content-type': 'application/json' }
    const answer = await script.request('POST', CHOOSE, { form: { end: 'x' }, headers })
    expect([answer.status, answer.json<Refusal>().code]).toEqual([400, 'rest_invalid_json'])
  })

  test('two pending logins and one place: one is admitted, and the other asked again', async () => {
    const host = await startAskingHost(1)
    await signedIn(host, 'windows')
    const [[one, { data }], [two]] = [await askedByJson(host), await askedByJson(host)]
    const end = data.sessions.map(({ token }) => token)
    const answers = await Promise.all([choose(one, { end }), choose(two, { end })])
    expect(answers.map(({ status }) => status).toSorted()).toContain(200)
    const refused = answers.find(({ status }) => status !== 200)?.json<Refusal>()
    expect(refused).toMatchObject({ data: { need: 1, choice_url: CHOOSE } })
    expect(['invalid_choice', 'login_choice_required']).toContain(refused?.code)
    expect(await host.limiter.sessions.count(BOB)).toBe(1)
    const loser = (await one.me()) === 200 ? two : one
    const next = { end: refused?.data.sessions.map(({ token }) => token) }
    expect((await choose(loser, next)).json()).toEqual({ signed_in: true, ended: 1 })
  })

  test('without cookies sends the secret in the body, if the option allows that', async () => {
    const open = await startFull({ secretInBody: true })
    const [, { data }] = await askedByJson(open)
    expect(data.pending).toMatch(/^[\w-]{43}\.[\w-]+$/)
    const native = open.browser()
    const body = { end: [data.sessions[0]?.token], pending: data.pending }
    expect((await choose(native, body, { origin: 'https://evil.example' })).status).toBe(200)
    expect([await native.me(), (await choose(open.browser(), body)).status]).toEqual([200, 410])

    const closed = await startFull()
    const [script] = await askedByJson(closed)
    const pending = script.cookies.get('sessmgr_pending')?.value
    expect((await choose(closed.browser(), { all: true, pending })).status).toBe(410)
    expect((await choose(script, { all: true })).status).toBe(200)
  })
})
