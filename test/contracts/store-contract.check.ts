import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { UserId } from '../../src/ground/user-id.ts'
import { type NewSession, tokenOf } from '../../src/sessions/session-record.ts'
import type { SessionChange, UserSessions } from '../../src/sessions/session-registry.ts'
import { memoryStore } from '../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../src/stores/store.ts'
import { fakeClock } from '../../src/testing.ts'
import { registerStoreContract, type StoreContractOptions } from './store/store-contract.ts'

/** Runs the contract, or one case of it, and gives the names of the cases that fail, why, and the names of all. */
async function judge(options: Pick<StoreContractOptions, 'create' | 'realTime'>, only?: string) {
  const cases = new Map<string, () => Promise<void>>()
  registerStoreContract({
    ...options,
    describe: (_, body) => body(),
    it: (name, body) => name === (only ?? name) && cases.set(name, body),
  })
  const reasons = new Map<string, string>()
  for (const [name, body] of cases) await body().catch((error: Error) => reasons.set(name, error.message))
  return { failed: [...reasons.keys()], reasons, names: [...cases.keys()] }
}

/** A memory store that somebody has broken. */
const broken = (breakIt: (store: SessmgrStore) => SessmgrStore) => async () => {
  const clock = fakeClock()
  const store = breakIt(memoryStore({ clock }))
  return {
    store,
    another: async () => store,
    pass: async (ms: number) => clock.advance(ms),
    rewind: async (ms: number) => clock.advance(-ms),
    close: () => store.close(),
  }
}

/** The same store with other methods of its registry. */
function withSessions(store: SessmgrStore, methods: (sessions: SessmgrStore['sessions']) => object): SessmgrStore {
  const { sessions } = store
  const own = methods(sessions) as Record<string | symbol, unknown>
  const get = (_: object, name: string | symbol) => {
    const member = own[name] ?? Reflect.get(sessions, name)
    return typeof member === 'function' ? member.bind(sessions) : member
  }
  return { ...store, sessions: new Proxy<SessmgrStore['sessions']>(sessions, { get }) }
}

/** Ends sessions as always, and refuses afterwards to adopt those that it keeps among the ended, without end. */
const remembering = (keep: (ended: Set<string>) => Set<string>) => (store: SessmgrStore) => {
  const ended = new Map<string, Set<string>>()
  return withSessions(store, (sessions) => ({
    async end(userId: UserId, tokens?: readonly string[]) {
      const list = await sessions.end(userId, tokens)
      const all = new Set([...(ended.get(String(userId)) ?? []), ...list.map(({ record }) => record.token)])
      ended.set(String(userId), keep(all))
      return list
    },
    async adopt(userId: UserId, session: NewSession) {
      if (ended.get(String(userId))?.has(tokenOf(session.sessionId))) return undefined
      const adopted = await sessions.adopt(userId, session)
      if (adopted) return adopted
      const read = await sessions.read(userId)
      const result = await sessions.commit(userId, read, { admit: session, end: [] })
      return result.committed ? result.admitted : undefined
    },
  }))
}

const COUNT = 'does not adopt the last 32 sessions that ended, but adopts one that ended before them'
const MINUTES = 'does not adopt an ended session for ten minutes, but adopts it afterwards'

describe('the store contract', () => {
  it('passes a store that keeps it', async () => {
    expect((await judge({ create: broken((store) => store) })).failed).toEqual([])
  })

  it('fails a store whose rotation reads before it writes, or repeats without end', async () => {
    const late = broken((store) =>
      withSessions(store, (sessions) => ({
        async rotate(...given: Parameters<typeof sessions.rotate>) {
          await sleep(1)
          const [userId, token, presented, change] = given
          const { sessions: all } = await sessions.read(userId)
          const rotation = await sessions.rotate(...given)
          const isThere = all.some(({ record }) => record.token === token)
          if (!isThere || rotation?.outcome !== 'repeated') return rotation
          return sessions.rotate(userId, token, presented + 1, change)
        },
      })),
    )
    expect((await judge({ create: late })).failed).toContain(
      'rotates once if the same token is presented many times at once',
    )
    const endless = broken((store) =>
      withSessions(store, (sessions) => ({
        rotate: (userId: UserId, token: string, presented: number, change: { graceMs: number; ttlMs: number }) =>
          sessions.rotate(userId, token, presented, { ...change, graceMs: 1e9 }),
      })),
    )
    expect((await judge({ create: endless })).failed).toContain(
      'repeats nothing after the grace period, or without one',
    )
  })

  it('fails a store whose logins are not decided on what they replace', async () => {
    const create = broken((store) =>
      withSessions(store, (sessions) => ({
        commit: async (userId: UserId, _: UserSessions, change: SessionChange) =>
          sessions.commit(userId, await sessions.read(userId), change),
      })),
    )
    const { failed } = await judge({ create })
    expect(failed).toContain('changes nothing if anything stored about the user has changed since the read')
    expect(failed).toContain('either records the use of a session or ends it, when both happen at once')
  })

  it('fails a store whose wipe does nothing', async () => {
    const { failed } = await judge({ create: broken((store) => ({ ...store, wipe: async () => {} })) })
    expect(failed).toEqual([
      'is empty after a wipe',
      'forgets every session, live or ended, and every site-wide logout',
      'forgets every option, application password and transient',
      'continues to work as an empty store',
    ])
  })

  it.each(['options', 'passwords', 'transients', 'sessions', 'epoch'] as const)(
    'fails a store whose wipe leaves its %s',
    async (part) => {
      const { failed } = await judge({
        create: broken((store) => {
          const kept = memoryStore()
          return { ...store, [part]: kept[part] }
        }),
      })
      expect(failed.filter((name) => name.startsWith('forgets every'))).toHaveLength(1)
    },
  )

  it('fails a store that remembers every ended session for ever', async () => {
    const { failed } = await judge({ create: broken(remembering((ended) => ended)) })
    expect(failed).toEqual(expect.arrayContaining([COUNT, MINUTES]))
  })

  it('fails a store that remembers 31 ended sessions', async () => {
    const { failed } = await judge({ create: broken(remembering((ended) => new Set([...ended].slice(-31)))) })
    expect(failed).toContain(COUNT)
  })

  it('leaves the ten minutes out for a store in real time, and else says what is wrong when they are waited for', async () => {
    const create = async () => {
      const store = memoryStore()
      const pass = (ms: number) => sleep(ms, undefined, { ref: false })
      return { store, another: async () => store, pass, close: () => store.close() }
    }
    const { failed, names } = await judge({ create, realTime: true })
    expect(failed).toEqual([])
    expect(names).toContain(COUNT)
    expect(names).not.toContain(MINUTES)
    const waiting = await judge({ create }, MINUTES)
    expect(waiting.failed).toEqual([MINUTES])
    expect(waiting.reasons.get(MINUTES)).toMatch(/^pass\(\) waits in real time\. .* realTime: true to skip /)
  })
})
