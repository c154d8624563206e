import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import express from 'express'
import { describe, expect, it } from 'vitest'
import type { HostRequest } from '../../../src/door/host-types.ts'
import { visitOf } from '../../../src/door/request/visit.ts'
import { limitPassportLogins } from '../../../src/middleware/login.ts'
import { beginVisit } from '../../../src/middleware/visit.ts'

/** A request as Express hands it on. */
function requestTo(app: express.Express): HostRequest {
  return Object.setPrototypeOf(new IncomingMessage(new Socket()), app.request)
}

describe('a request to Express', () => {
  it('gets one property, whatever is shown on it and assigned to it', () => {
    const request = requestTo(express())
    const before = Reflect.ownKeys(request)
    const visit = beginVisit(request)
    limitPassportLogins(request)
    const state = { ended: { reason: 'ended' } } as const
    visit.sessmgr = state
    const logIn = () => {}
    Object.assign(request, { logIn, login: logIn })
    expect(request.sessmgr).toBe(state)
    expect([typeof request.logIn, request.login]).toEqual(['function', request.logIn])
    expect(Reflect.ownKeys(request).length - before.length).toBe(1)
  })

  it('has a visit of its own, and keeps it', () => {
    const app = express()
    const [one, other] = [requestTo(app), requestTo(app)]
    const visit = beginVisit(one)
    one.sessmgr = {}
    expect(visitOf(one)).toBe(visit)
    expect([visit.sessmgr, other.sessmgr, visitOf(other)]).toEqual([{}, undefined, undefined])
  })

  it('has its properties in the order in which it got them', () => {
    const request = requestTo(express())
    request.first = 1
    beginVisit(request)
    request.last = 2
    expect(Object.keys(request).slice(-2)).toEqual(['first', 'last'])
  })

  it('shows its own state also where other middleware has put something in its place', () => {
    const request = requestTo(express())
    Object.defineProperty(request, 'sessmgr', { value: 'foreign', configurable: true })
    beginVisit(request).sessmgr = {}
    expect(request.sessmgr).toEqual({})
  })

  it('without Express has what it is shown itself, and Node’s prototype stays as it is', () => {
    const request = new IncomingMessage(new Socket()) as HostRequest
    beginVisit(request).sessmgr = {}
    expect([request.sessmgr, 'sessmgr' in IncomingMessage.prototype]).toEqual([{}, false])
  })
})
