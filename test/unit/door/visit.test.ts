import { beforeEach, describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { TestVisit } from '../../support/test-visit.ts'

describe('the visit of a request', () => {
  it('keeps what Passport has assigned to the request for the one that takes its place', () => {
    const [request, first, second] = [{}, new TestVisit({}), new TestVisit({})]
    const assigned = { assignedLogIn: () => {}, assignedLogin: () => {} }
    Object.assign(first, assigned).standFor(request)
    second.standFor(request)
    expect(second).toMatchObject(assigned)
  })
})

const ENDS = { mark: 0, generation: 0, terms: { label: null, counts: true } }
const first = { userId: 7, token: tokenOf('first'), isReadable: true }
const second = { userId: 8, token: tokenOf('second'), isReadable: false }

describe('the login session on which a request goes', () => {
  let visit: TestVisit
  const note = ({ userId, token, isReadable }: typeof first) => visit.noteOrigin(userId, token, isReadable)
  const tokenFor = async (userId?: number | string) => (await visit.dependsOn(userId))?.token
  beforeEach(() => {
    visit = new TestVisit()
    note(first)
  })

  it('is the latest that was noted; by a user, the latest of theirs', async () => {
    expect(await visit.dependsOn()).toMatchObject(first)
    expect([await tokenFor('7'), await tokenFor(8)]).toEqual([first.token, undefined])
    note(second)
    expect([await tokenFor(), await tokenFor(7)]).toEqual([second.token, first.token])
    note({ ...first, token: 'third' })
    expect([await tokenFor(7), visit.wasReadable(second.token)]).toEqual(['third', false])
    expect(await new TestVisit().dependsOn()).toBeUndefined()
  })

  it('is none once the request gave it up while it was live, and stays when nobody can tell', async () => {
    for (const [ends, isLeft] of [
      [async () => ENDS, false],
      [async () => undefined, true],
      [() => Promise.reject(new Error('down')), true],
    ] as const) {
      visit = new TestVisit()
      note(first)
      visit.giveUp(second.token, Promise.resolve(ENDS))
      visit.giveUp(first.token, ends())
      // What is said later of the same session does not count.
      visit.giveUp(first.token, Promise.resolve(isLeft ? ENDS : undefined))
      expect(await tokenFor()).toBe(isLeft ? first.token : undefined)
    }
  })

  it('is given up by its token also after a login by the same request, and by its user where both have one', async () => {
    note(second)
    visit.giveUp(first.token, Promise.resolve(ENDS))
    expect([await tokenFor(), await tokenFor(7)]).toEqual([second.token, undefined])
    note({ ...first, userId: 9, token: second.token })
    visit.giveUp(second.token, Promise.resolve(ENDS), 8)
    expect([await tokenFor(9), await tokenFor(8)]).toEqual([second.token, undefined])
  })
})
