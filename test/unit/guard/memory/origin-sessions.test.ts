import { beforeEach, describe, expect, it } from 'vitest'
import { OriginSessions } from '../../../../src/guard/memory/origin-sessions.ts'
import { tokenOf } from '../../../../src/sessions/token.ts'

const first = { userId: 7, token: tokenOf('first'), isReadable: true }
const second = { userId: 8, token: tokenOf('second'), isReadable: false }

describe('the login session on which a request goes', () => {
  let origins: OriginSessions
  const request = {}
  beforeEach(() => {
    origins = new OriginSessions()
    origins.note(request, first)
  })

  it('is the one that was noted for this very request', async () => {
    expect(await origins.of(request)).toMatchObject(first)
    expect(await origins.of(request, 7)).toMatchObject(first)
    expect(await origins.of(request, '7')).toMatchObject(first)
    expect(await origins.of({})).toBeUndefined()
    expect(await origins.of(undefined)).toBeUndefined()
  })

  it('is none for a user whose session it is not', async () => {
    expect(await origins.of(request, 8)).toBeUndefined()
  })

  it('is the latest of several; by a user, the latest of theirs', async () => {
    origins.note(request, second)
    expect(await origins.of(request)).toMatchObject(second)
    expect(await origins.of(request, 7)).toMatchObject(first)
    const third = { ...first, token: tokenOf('third') }
    origins.note(request, third)
    expect(await origins.of(request, 7)).toMatchObject(third)
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
    origins.giveUp(request, first.token, wasLive())
    expect((await origins.of(request))?.token).toBe(left?.token)
  })

  it('is given up once: what is said later of the same session does not count', async () => {
    origins.giveUp(request, first.token, Promise.resolve(false))
    origins.giveUp(request, first.token, Promise.resolve(true))
    expect(await origins.of(request)).toMatchObject(first)
  })

  it('stays when another session or another request is given up', async () => {
    origins.giveUp(request, second.token, Promise.resolve(true))
    origins.giveUp({}, first.token, Promise.resolve(true))
    origins.giveUp(undefined, first.token, Promise.resolve(true))
    expect(await origins.of(request)).toMatchObject(first)
  })

  it('is given up by its token also after a login by the same request', async () => {
    origins.note(request, second)
    origins.giveUp(request, first.token, Promise.resolve(true))
    expect(await origins.of(request)).toMatchObject(second)
    expect(await origins.of(request, 7)).toBeUndefined()
  })
})
