import { describe, expect, it, test } from 'vitest'
import type { HostSessionData } from '../../../../src/guard/host-types.ts'
import {
  markerIn,
  readMarker,
  type SessionMarker,
  tokenIn,
  whileMarked,
  writeMarker,
} from '../../../../src/guard/marker/session-marker.ts'
import { tokenOf } from '../../../../src/sessions/token.ts'

const token = tokenOf('raw id')
const marker: SessionMarker = { userId: 7, token, signature: 'signed' }

describe('a marker in session data', () => {
  it('is read back as it was written, over an earlier one', () => {
    const data: HostSessionData = { cart: [1] }
    writeMarker(data, { ...marker, userId: 8 })
    writeMarker(data, marker)
    expect(data).toEqual({ cart: [1], sessmgr: marker })
    expect(readMarker(data, token)).toEqual(marker)
    expect(tokenIn(data)).toBe(token)
    expect(markerIn(data)).toBe(marker)
  })

  it('is none of another session, though its token can be told', () => {
    const data = { sessmgr: marker }
    expect(readMarker(data, tokenOf('another id'))).toBeUndefined()
    expect(tokenIn(data)).toBe(token)
  })

  it('carries no more than its three fields, the signature as a string', () => {
    expect(readMarker({ sessmgr: { ...marker, signature: 5, role: 'admin' } }, token)).toEqual({
      ...marker,
      signature: '5',
    })
  })

  test.each([[undefined], [null], [7], ['text'], [true]])('is none where there is %j in its place', (value) => {
    const data = { sessmgr: value }
    expect([readMarker(data, token), tokenIn(data), markerIn(data)]).toEqual([undefined, undefined, undefined])
  })

  test.each([[undefined], [null], [7], [{}]])('names no session by the token %j', (value) => {
    expect(tokenIn({ sessmgr: { ...marker, token: value } })).toBeUndefined()
  })
})

describe('data that is marked for one write alone', () => {
  /** What is written, what is left in the data, and what the caller gets. */
  async function written(data: HostSessionData, mark: SessionMarker | undefined, failure?: Error) {
    let seen: unknown
    const outcome = whileMarked(data, mark, async () => {
      seen = structuredClone(data)
      if (failure) throw failure
    })
    return { outcome: await outcome.catch((error: unknown) => error), seen, left: data }
  }

  it('holds the marker while it is written, and none after that', async () => {
    expect(await written({ cart: 1 }, marker)).toEqual({
      outcome: undefined,
      seen: { cart: 1, sessmgr: marker },
      left: { cart: 1 },
    })
  })

  it('gets an earlier marker back, also when the write fails', async () => {
    const failure = new Error('the store is down')
    expect(await written({ sessmgr: 'earlier' }, marker, failure)).toEqual({
      outcome: failure,
      seen: { sessmgr: marker },
      left: { sessmgr: 'earlier' },
    })
  })

  it('is written as it is where no marker could be made', async () => {
    expect(await written({ sessmgr: 'earlier' }, undefined)).toMatchObject({
      seen: { sessmgr: 'earlier' },
      left: { sessmgr: 'earlier' },
    })
  })
})
