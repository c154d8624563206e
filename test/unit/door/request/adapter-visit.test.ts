import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it, test, vi } from 'vitest'
import type { HostSession, HostSessionData } from '../../../../src/door/host-types.ts'
import { AdapterVisit } from '../../../../src/door/request/adapter-visit.ts'
import { visitOf } from '../../../../src/door/request/visit.ts'
import type { SessionGuard } from '../../../../src/door/session-guard.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { createLoginHost } from '../../../support/login-host.ts'

const session = (sessionId: string) => ({ userId: 7, token: tokenOf(sessionId) })

class SimpleVisit extends AdapterVisit {
  session: HostSession | undefined
  sessionID = 'a'
  readonly ip = '192.0.2.1'
  readonly passportLogin = undefined

  constructor(guard: SessionGuard, data?: HostSessionData) {
    const message = new IncomingMessage(new Socket())
    super(guard, message, new ServerResponse(message))
    this.session = data as HostSession | undefined
  }

  async renew() {}

  async restore() {}
}

/** A visit that was loaded with a live session of user 7, and whether its use is noted at the end. */
async function signedIn() {
  const host = createLoginHost()
  const visit = new SimpleVisit(host.guard, await host.signIn('a', 7))
  visit.sessmgr = { session: session('a') }
  visit.origin = session('a')
  host.clock.advance(10_000)
  const noteUse = () => new Promise<void>((done) => visit.noteUse(done))
  const isNoted = async () => {
    await noteUse()
    return (await host.records(7))[0]?.lastSeenAt === host.clock.now()
  }
  return { ...host, visit, isNoted, noteUse }
}

test("a visit is found by Node's request and by itself", () => {
  const visit = new SimpleVisit(createLoginHost().guard)
  expect([visitOf(visit.raw), visitOf(visit), visitOf({})]).toEqual([visit, visit, undefined])
})

test('the login session of a visit is none once its session was given up or exchanged', async () => {
  const { visit } = await signedIn()
  expect(visit.sessmgr).toEqual({ session: session('a') })
  visit.sessionID = 'b'
  expect(visit.sessmgr).toEqual({})
  visit.sessionID = 'a'
  visit.session = undefined
  expect(visit.sessmgr).toEqual({})
})

test('why a session ended is known whatever the request goes on with', async () => {
  const { visit } = await signedIn()
  visit.sessmgr = { ended: { reason: 'ended' } }
  visit.sessionID = 'b'
  expect(visit.sessmgr).toEqual({ ended: { reason: 'ended' } })
})

describe('the use of a session', () => {
  it('is noted when nobody has written it', async () => {
    const { isNoted } = await signedIn()
    expect(await isNoted()).toBe(true)
  })

  it('is noted once for the time that the application asks for', async () => {
    const { noteUse, guard } = await signedIn()
    await noteUse()
    const touched = vi.spyOn(guard, 'touch')
    await noteUse()
    expect(touched).not.toHaveBeenCalled()
  })

  it('is not noted again where it was written', async () => {
    const { isNoted, visit } = await signedIn()
    visit.wrote = true
    expect(await isNoted()).toBe(false)
  })

  it('is not noted of a login that was not written: nobody has its cookie', async () => {
    const { isNoted, visit } = await signedIn()
    visit.origin = session('the one before')
    expect(await isNoted()).toBe(false)
  })

  it('is not noted of a visitor', async () => {
    const { isNoted, visit, guard } = await signedIn()
    const touched = vi.spyOn(guard, 'touch')
    visit.sessmgr = {}
    expect(await isNoted()).toBe(false)
    expect(touched).not.toHaveBeenCalled()
  })
})
