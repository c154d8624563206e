import type { Request, Response } from 'express'
import { expect, test } from 'vitest'
import type { Sessmgr } from '../../../src/index.ts'
import { asked, BOB, CHOOSE, choosing, signedIn, startAskingHost } from './choice-host.ts'

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

test('a user who signs out their other devices does not keep others from finishing a choice', async () => {
  const host = await startAskingHost(1, { cooldown: { count: 1, minutes: 60 } })
  const [here] = await signedIn(host, 'windows')
  const headers = { 'x-host-nonce': (await here?.get('/nonce'))?.text ?? '' }
  const [phone, page] = await asked(host)
  const others = await here?.request('POST', END_OTHERS, { headers, json: {} })
  expect(others?.json()).toMatchObject({ ended: 0 })
  expect((await phone.post(CHOOSE, choosing(page, ''))).location).toBe('/')
  expect(await phone.me()).toBe(200)

  const nonce = { 'x-host-nonce': (await phone.get('/nonce')).text }
  expect((await phone.request('POST', END_OTHERS, { headers: nonce, json: {} })).status).toBe(200)
  expect((await asked(host, 'linux'))[1].status).toBe(429)
})
