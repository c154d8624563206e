import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../../src/index.ts'
import { UNPROVED } from '../../../../src/sessions/session-record.ts'
import { decodeDocument, encodeDocument } from '../../../../src/stores/document/document-codec.ts'
import type { DocumentSession, UserDocument } from '../../../../src/stores/document/user-document.ts'
import { rounds } from '../../../support/rounds.ts'
import { AGENTS } from '../../../support/user-agents.ts'

const RUNS = { numRuns: rounds(200) }
const text = (minLength: number) => fc.string({ unit: 'binary', minLength, maxLength: 80 })
const time = fc.integer({ min: 1, max: 2 ** 42 })
const distance = fc.integer({ min: -(2 ** 40), max: 2 ** 40 })
const userIds = fc.oneof(fc.integer({ min: 0 }), text(1))
const rotations = fc.option(
  fc.tuple(time, time, fc.array(fc.tuple(time, time), { maxLength: 2 })).map((it) => it as DocumentSession['rotation']),
  { nil: undefined },
)
const sessionsOf = (userId: number | string) =>
  fc
    .record({
      sessionId: text(1),
      admitted: time,
      sinceThen: distance,
      life: distance,
      ip: fc.option(text(1)),
      userAgent: fc.option(text(0)),
      device: fc.option(text(1)),
      generation: fc.integer({ min: 0, max: 2 ** 45 }),
      takenUp: fc.boolean(),
      rotation: rotations,
      provedAt: fc.option(fc.oneof(time, fc.constant(UNPROVED)), { nil: undefined }),
      label: fc.option(text(1)),
      bound: fc.option(text(1)),
      counts: fc.boolean(),
      before: distance,
      endsAt: fc.option(time, { nil: undefined }),
      host: fc.option(fc.oneof(fc.tuple(text(1), text(1)), fc.tuple(fc.integer(), time, time)), { nil: undefined }),
    })
    .map(
      ({
        sessionId,
        takenUp,
        admitted,
        sinceThen,
        life,
        rotation,
        provedAt,
        before,
        endsAt,
        host,
        ...about
      }): DocumentSession => ({
        sessionId,
        takenUp,
        record: {
          token: tokenOf(sessionId),
          userId,
          sequence: admitted,
          loggedInAt: admitted - before,
          createdAt: admitted,
          lastSeenAt: admitted + sinceThen,
          expiresAt: Math.min(admitted + sinceThen + life, endsAt ?? Number.POSITIVE_INFINITY),
          actor: host?.[0] ?? null,
          ...about,
        },
        lifeEnd: admitted + sinceThen + life,
        endsAt,
        host,
        ...(rotation && { rotation }),
        ...(provedAt && { provedAt }),
      }),
    )
const name = fc.string({ unit: fc.constantFrom(...'azAZ09-_'), minLength: 11, maxLength: 11 })
/** Of any times, because the clock may have been set back between two ends. */
const endedLists = fc.array(fc.tuple(name, time), { maxLength: 32 })
/** What else may be stored about a user. */
const state = {
  devices: text(1),
  counts: fc.dictionary(
    fc.constantFrom('choices', 'codes', 'password 0123abcd'),
    fc.record({ minutes: fc.integer({ min: 1, max: 1440 }), times: fc.array(time, { minLength: 1, maxLength: 100 }) }),
  ),
  pending: fc.array(
    fc.record({
      name: text(1),
      expiresAt: time,
      generation: fc.integer({ min: 0, max: 2 ** 45 }),
      tries: fc.integer({ min: 1, max: 3 }),
      isTaken: fc.boolean(),
    }),
  ),
}
const withUser = userIds.chain((userId) =>
  fc.record({
    userId: fc.constant(userId),
    document: fc.record(
      {
        sessions: fc.array(sessionsOf(userId), { maxLength: 5 }),
        ended: endedLists,
        mark: fc.oneof(fc.constant(0), time),
        ...state,
      },
      { requiredKeys: ['sessions', 'ended', 'mark'] },
    ),
  }),
)

const documentWith = (parts: Partial<UserDocument>): UserDocument => ({ sessions: [], ended: [], mark: 0, ...parts })

describe('the document of a user', () => {
  it('comes back as it was, whatever is in it', () => {
    fc.assert(
      fc.property(withUser, ({ userId, document }) => {
        expect(decodeDocument(userId, encodeDocument(document))).toEqual(document)
      }),
      RUNS,
    )
  })

  it('keeps the type of the user id, although whoever reads it may have the other', () => {
    for (const userId of [12, '12']) {
      const [session] = fc.sample(sessionsOf(userId), 1) as [DocumentSession]
      const encoded = encodeDocument(documentWith({ sessions: [session] }))
      expect(decodeDocument(String(userId), encoded).sessions[0]?.record.userId).toBe(userId)
    }
  })

  it('has the time of admission as its order, also of a session whose time was another', () => {
    const [session] = fc.sample(sessionsOf('alice'), 1) as [DocumentSession]
    const behind = {
      ...session,
      record: { ...session.record, sequence: 7, createdAt: 9, lastSeenAt: 9, expiresAt: 20 },
      lifeEnd: 20,
      endsAt: undefined,
    }
    const [decoded] = decodeDocument('alice', encodeDocument(documentWith({ sessions: [behind] }))).sessions
    expect(decoded?.record).toMatchObject({ sequence: 7, createdAt: 7, lastSeenAt: 9, expiresAt: 20 })
  })

  it('is short for the user agents of browsers, and takes one character besides for any other', () => {
    const [{ record, ...session }] = fc.sample(sessionsOf('alice'), 1) as [DocumentSession]
    const lengthWith = (userAgent: string) => {
      const encoded = encodeDocument(documentWith({ sessions: [{ ...session, record: { ...record, userAgent } }] }))
      expect(decodeDocument('alice', encoded).sessions[0]?.record.userAgent).toBe(userAgent)
      return encoded.length
    }
    const least = lengthWith('')
    for (const agent of Object.values(AGENTS)) expect(lengthWith(agent) - least, agent).toBeLessThan(30)
    for (const other of ['curl', '1', 'agent 1']) expect(lengthWith(other) - least).toBe(other.length)
  })

  it('is damaged if anything else is written', () => {
    const wrong = [
      'garbage',
      'null',
      '{}',
      '{"s":[null]}',
      '{"s":[{}]}',
      '{"s":[["a",0,0]]}',
      '{"s":[["a","0",0,1]]}',
      '{"s":[["a",0.5,0,1]]}',
      '{"s":[[null,0,0,1]]}',
      '{"s":[],"e":[]}',
    ]
    for (const written of wrong) {
      const message = expect.stringMatching(/"alice".*damaged.*Delete/)
      expect(() => decodeDocument('alice', written), written).toThrow(
        expect.objectContaining({ code: 'store_unavailable', message }),
      )
    }
  })
})
