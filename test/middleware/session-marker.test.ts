import { describe, expect, it } from 'vitest'
import type { HostSessionData } from '../../src/middleware/host-types.ts'
import { markedUser, readMarker, type SessionMarker, writeMarker } from '../../src/middleware/session-marker.ts'
import { tokenOf } from '../../src/sessions/token.ts'

const token = tokenOf('raw id')
const marker: SessionMarker = { userId: 7, token, store: 'memory:1' }

/** Writes a marker, and reads the data back as a session store would give it. */
function stored(written: SessionMarker, rest: HostSessionData = {}): HostSessionData {
  const data = { ...rest }
  writeMarker(data, written)
  return JSON.parse(JSON.stringify(data))
}

describe('the session marker', () => {
  it('is read as it was written, through a store, in the type of the user id', () => {
    expect(readMarker(stored(marker), token, 'memory:1')).toEqual(marker)
    expect(readMarker(stored({ ...marker, userId: '7' }), token, 'memory:1')?.userId).toBe('7')
  })

  it('leaves the rest of the session data alone', () => {
    expect(stored(marker, { cart: [1, 2] })).toEqual({ cart: [1, 2], sessmgr: marker })
  })

  it('replaces the marker that was there', () => {
    expect(readMarker(stored({ ...marker, userId: 8 }, stored(marker)), token, 'memory:1')?.userId).toBe(8)
  })

  it('holds no raw session id', () => {
    expect(JSON.stringify(stored(marker))).not.toContain('raw id')
  })

  it('proves nothing for another session id, into which the data was merged', () => {
    expect(readMarker(stored(marker), tokenOf('another id'), 'memory:1')).toBeUndefined()
  })

  it('proves nothing for another store, or one that has lost its memory', () => {
    expect(readMarker(stored(marker), token, 'memory:2')).toBeUndefined()
  })

  it('is not there in a session from before the service', () => {
    expect(readMarker({}, token, 'memory:1')).toBeUndefined()
    expect(readMarker({ passport: { user: 7 } }, token, 'memory:1')).toBeUndefined()
  })

  it('is not taken from damaged data', () => {
    for (const damaged of [null, 'text', 7, true, [], {}, [marker], { ...marker, token: undefined }]) {
      expect(readMarker({ sessmgr: damaged }, token, 'memory:1'), JSON.stringify(damaged)).toBeUndefined()
    }
    for (const userId of [undefined, null, '', 1.5, Number.NaN, {}, [], true]) {
      expect(readMarker({ sessmgr: { ...marker, userId } }, token, 'memory:1'), String(userId)).toBeUndefined()
    }
  })
})

describe('the user that a marker names', () => {
  it('is known also when the store has lost its memory', () => {
    expect(markedUser(stored(marker), token)).toBe(7)
  })

  it('is unknown without a marker, for another session id, and in damaged data', () => {
    expect(markedUser({}, token)).toBeUndefined()
    expect(markedUser(stored(marker), tokenOf('another id'))).toBeUndefined()
    expect(markedUser({ sessmgr: null }, token)).toBeUndefined()
    expect(markedUser({ sessmgr: { ...marker, userId: '' } }, token)).toBeUndefined()
  })
})
