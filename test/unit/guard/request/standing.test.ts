import { beforeEach, describe, expect, it } from 'vitest'
import { Standing } from '../../../../src/guard/request/standing.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'

const first = { userId: 7, token: tokenOf('first'), isReadable: true }
const second = { userId: 8, token: tokenOf('second'), isReadable: false }

describe('the standing of a request', () => {
  it('is one object for as long as the request lasts, and out of sight of its data', () => {
    const request = { a: 1 }
    expect([Standing.of(request), Standing.of(undefined)]).toEqual([undefined, undefined])
    const standing = Standing.at(request)
    expect(Standing.at(request)).toBe(standing)
    expect(Standing.of(request)).toBe(standing)
    expect([JSON.stringify(request), Object.keys(request)]).toEqual(['{"a":1}', ['a']])
  })

  it('can be that of two objects which show one request', () => {
    const standing = Standing.at({})
    const other = {}
    standing.standFor(other)
    expect(Standing.of(other)).toBe(standing)
  })
})

describe('the login session on which a request goes', () => {
  let standing: Standing
  const note = ({ userId, token, isReadable }: typeof first) => standing.noteOrigin(userId, token, isReadable)
  beforeEach(() => {
    standing = new Standing()
    note(first)
  })

  it('is the one that was noted', async () => {
    expect(await standing.dependsOn()).toMatchObject(first)
    expect(await standing.dependsOn(7)).toMatchObject(first)
    expect(await standing.dependsOn('7')).toMatchObject(first)
    expect(await new Standing().dependsOn()).toBeUndefined()
  })

  it('is none for a user whose session it is not', async () => {
    expect(await standing.dependsOn(8)).toBeUndefined()
  })

  it('is the latest of several; by a user, the latest of theirs', async () => {
    note(second)
    expect(await standing.dependsOn()).toMatchObject(second)
    expect(await standing.dependsOn(7)).toMatchObject(first)
    const third = { ...first, token: tokenOf('third') }
    note(third)
    expect(await standing.dependsOn(7)).toMatchObject(third)
  })

  it.each([
    { wasLive: async () => true, fate: 'is none once the request gave it up while it was live', left: undefined },
    { wasLive: async () => false, fate: 'stays when it was over before it was given up', left: first },
    {
      wasLive: () => Promise.reject(new Error('down')),
      fate: 'stays when nobody can tell whether it was live',
      left: first,
    },
  ])('$fate', async ({ wasLive, left }) => {
    standing.giveUp(first.token, wasLive())
    expect((await standing.dependsOn())?.token).toBe(left?.token)
  })

  it('is given up once: what is said later of the same session does not count', async () => {
    standing.giveUp(first.token, Promise.resolve(false))
    standing.giveUp(first.token, Promise.resolve(true))
    expect(await standing.dependsOn()).toMatchObject(first)
  })

  it('stays when another session is given up', async () => {
    standing.giveUp(second.token, Promise.resolve(true))
    expect(await standing.dependsOn()).toMatchObject(first)
  })

  it('is given up by its token also after a login by the same request', async () => {
    note(second)
    standing.giveUp(first.token, Promise.resolve(true))
    expect(await standing.dependsOn()).toMatchObject(second)
    expect(await standing.dependsOn(7)).toBeUndefined()
  })
})
