import { expect, test } from 'vitest'
import { goOnWith, judgeSession } from '../../../../src/guard/request/loaded-session.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { continuedBy, sessionData } from '../../../support/guard-world.ts'
import { clientRequest, createLoginHost } from '../../../support/login-host.ts'

const MISSING = { reason: 'missing' } as const
const session = (userId: number) => ({ userId, token: tokenOf('before') })

test('a request goes on with the live login session that it was loaded with', async () => {
  const { hosted, signIn, attended } = createLoginHost()
  const request = clientRequest(await signIn('before', 7))
  expect(await judgeSession(hosted, request, MISSING)).toBe(false)
  expect(request.sessmgr).toEqual({ session: session(7) })
  expect(await continuedBy(request, 7)).toBe(tokenOf('before'))
  expect(attended).toContain(request.session)
})

test('a session from before sessmgr gets its marker', async () => {
  const { hosted, guard } = createLoginHost()
  const data = sessionData({ user: 7 })
  await judgeSession(hosted, clientRequest(data))
  expect(guard.markerOf('before', data)).toMatchObject(session(7))
})

test('a session keeps a marker that is its own', async () => {
  const { hosted, signIn } = createLoginHost()
  const data = await signIn('before', 7)
  const marker = data.sessmgr
  await judgeSession(hosted, clientRequest(data))
  goOnWith(hosted, clientRequest(data), session(7))
  expect(data.sessmgr).toBe(marker)
})

test('a host need not stand by for a session to be given up', async () => {
  const { hosted, signIn } = createLoginHost()
  const { attend: _, ...simple } = hosted
  const request = clientRequest(await signIn('before', 7))
  await judgeSession(simple, request)
  expect(request.sessmgr).toEqual({ session: session(7) })
})

test('the host has to replace a session that is over, whatever else is known', async () => {
  const { hosted, signIn, endInRegistry, attended } = createLoginHost()
  const request = clientRequest(await signIn('before', 7))
  await endInRegistry(7, 'before')
  expect(await judgeSession(hosted, request, MISSING)).toBe(true)
  expect(request.sessmgr).toEqual({ ended: { reason: 'ended' } })
  expect(attended).toEqual([])
})

test('a request without a session, or with that of a visitor, is nobody; a session that was lost is told', async () => {
  const { hosted } = createLoginHost()
  for (const request of [clientRequest(), clientRequest(sessionData())]) {
    request.sessmgr = { session: session(7) }
    expect(await judgeSession(hosted, request)).toBe(false)
    expect(request.sessmgr).toEqual({})
    expect(await judgeSession(hosted, request, MISSING)).toBe(false)
    expect(request.sessmgr).toEqual({ ended: { reason: 'missing' } })
  }
  const request = clientRequest()
  goOnWith(hosted, request, session(7))
  expect(request.sessmgr, 'there is no session to go on with').toEqual({})
})
