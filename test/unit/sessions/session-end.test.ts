import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { endedDespite, noteEnded } from '../../../src/sessions/session-end.ts'
import type { StoredSession } from '../../../src/sessions/session-record.ts'

const ended = [{ sessionId: 'secret-id' }] as unknown as readonly StoredSession[]

it('an error of a call that has ended sessions names them to the limiter alone, and to no log', () => {
  const error = noteEnded(new Error('no replica has confirmed it'), ended)
  expect(endedDespite(error)).toBe(ended)
  expect(inspect(error) + JSON.stringify(error)).not.toContain('secret-id')
})
