import type { Request, Response } from 'express'
import { expect, test } from 'vitest'
import type { Sessmgr } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { asked, BOB, CHOOSE, choosing, proofIn, signedIn, startAskingHost } from './choice-host.ts'

const DEVICES = '/account/sessions'
const END_OTHERS = '/api/sessmgr/v1/me/sessions/end-others'

test.each([
  ['endAll', (limiter: Sessmgr) => limiter.sessions.endAll(BOB)],
  ['logoutAllUsers', (limiter: Sessmgr) => limiter.sessions.logoutAllUsers()],
  ['endOthers', (limiter: Sessmgr, kept: string) => limiter.sessions.endOthers(BOB, kept)],
])('a choice that %s overtakes while it is carried out signs nobody in', async (name, change) => {
  let overtake: () => Promise<unknown> = async () => {}
  const host = await startAskingHost(2, {
    complete: async (request: Request, _response: Response, user: Express.User) => {
      await overtake()
      await new Promise<void>((resolve, reject) => request.logIn(user, (error) => (error ? reject(error) : resolve())))
    },
  })
  const [here] = await signedIn(host, 'windows', 'linux')
  const [kept] = await host.limiter.sessions.list(BOB)
  const [phone, page] = await asked(host)
  overtake = () => change(host.limiter, kept?.token ?? '')
  const answer = await phone.post(CHOOSE, choosing(page, 'Linux'))
  expect([answer.location, await phone.me()]).toEqual(['/login?choice=expired', 401])
  const isKept = name === 'endOthers'
  expect([await host.limiter.sessions.count(BOB), await here?.me()]).toEqual(isKept ? [1, 200] : [0, 401])
})

test.each([
  ['the page of devices', (browser: Browser) => endOthersOnPage(browser)],
  ['the REST route', (browser: Browser) => endOthersOverRest(browser)],
])('signing out all other devices by %s ends logins that wait for a choice', async (_, endOthers) => {
  const host = await startAskingHost(2)
  const [here, linux] = (await signedIn(host, 'windows', 'linux')) as [Browser, Browser]
  const [phone, page] = await asked(host)
  await endOthers(here)
  expect((await phone.post(CHOOSE, choosing(page, 'Chrome'))).location).toBe('/login?choice=expired')
  expect([await phone.me(), await here.me(), await linux.me()]).toEqual([401, 200, 401])
  await signedIn(host, 'iphone')
})

test('signing out all other devices does not start the cooldown of choices again', async () => {
  const host = await startAskingHost(1, { cooldown: { count: 1, minutes: 60 } })
  await signedIn(host, 'windows')
  const [phone, page] = await asked(host)
  expect((await phone.post(CHOOSE, choosing(page, ''))).location).toBe('/')
  await endOthersOverRest(phone)
  expect((await asked(host, 'linux'))[1].status).toBe(429)
})

test('a choice whose login is refused gives its place in the cooldown back, and a choice that may have happened does not', async () => {
  let fail: (request: Request) => Promise<unknown> = async () => {}
  const host = await startAskingHost(1, {
    cooldown: { count: 1, minutes: 60 },
    complete: async (request: Request, _response: Response, user: Express.User) => {
      await fail(request)
      await new Promise<void>((resolve, reject) => request.logIn(user, (error) => (error ? reject(error) : resolve())))
      if (request.headers['x-fail-late']) throw new Error('the welcome mail could not be sent')
    },
  })
  await signedIn(host, 'windows')
  const [phone, page] = await asked(host)
  fail = () => Promise.reject(new Error('the database is away'))
  expect((await phone.post(CHOOSE, choosing(page, ''))).status).toBe(500)
  fail = async () => {}
  const [again, next] = await asked(host)
  expect((await again.post(CHOOSE, choosing(next, ''), { 'x-fail-late': '1' })).status).toBe(500)
  expect((await asked(host))[1].status).toBe(429)
})

async function endOthersOverRest(browser: Browser): Promise<void> {
  const headers = { 'x-host-nonce': (await browser.get('/nonce')).text }
  const answer = await browser.request('POST', END_OTHERS, { headers, json: {} })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
}

async function endOthersOnPage(browser: Browser): Promise<void> {
  const answer = await browser.post(DEVICES, { proof: proofIn(await browser.get(DEVICES)), others: '1' })
  if (answer.status !== 303) throw new Error(`${answer.status} ${answer.text}`)
}
