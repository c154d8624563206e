import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'
import { createLimiterWorld, SimpleHost } from '../../../support/limiter-world.ts'

const wide = { settings: { maximum: 10 } }

describe('the session that a site-wide logout keeps', () => {
  it('rule 78: is current for checks, lists, ends and explanations, and its generation stays', async () => {
    const { limiter, login, live } = createLimiterWorld(wide)
    const [kept, stale] = [String(await login(7)), String(await login(7))]
    const [before] = await limiter.sessions.list(7)
    await limiter.sessions.logoutAllUsers({ userId: 7, token: tokenOf(kept) })
    expect(await limiter.sessions.list(7)).toEqual([before])
    expect(await limiter.check(7, tokenOf(kept))).toMatchObject({ live: true })
    expect((await limiter.explain(7)).live).toMatchObject([{ token: tokenOf(kept) }])
    const after = String(await login(7))
    expect(await live(7)).toEqual([kept, after])
    const tokens = [kept, stale, after].map(tokenOf)
    expect(await limiter.endSeveral(7, tokens, {})).toBe(2)
  })

  it('rule 78: may continue in a new session, and its owner may sign out of it', async () => {
    const { limiter, login, live } = createLimiterWorld(wide)
    const kept = String(await login(7))
    await limiter.sessions.logoutAllUsers({ userId: 7, token: tokenOf(kept) })
    const renewed = String(await login(7, { replaces: kept, continues: tokenOf(kept) }))
    expect(await live(7)).toEqual([renewed])
    await limiter.sessions.logoutAllUsers({ userId: 7, token: tokenOf(renewed) })
    expect(await limiter.release(7, tokenOf(renewed))).toBe(true)
    expect(await live(7)).toEqual([])
  })
})

type Call = (...given: unknown[]) => Promise<unknown>

/** A store that one process shares with others, and that is gone for it before or after a certain call. */
function interruptedStore(store = memoryStore()) {
  const state = { left: Number.POSITIVE_INFINITY, isDone: true, calls: 0 }
  const lost = () => Promise.reject(new Error('The process was killed.'))
  const interrupted = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (_, name) => {
        const call = Reflect.get(part, name) as Call
        if (typeof call !== 'function') return call
        return async (...given: unknown[]) => {
          state.calls += 1
          if (state.left-- > 0) return call.apply(part, given)
          if (state.left === -1 && state.isDone) await call.apply(part, given)
          return lost()
        }
      },
    })
  const { sessions, epoch, transients } = store
  const parts = { sessions: interrupted(sessions), epoch: interrupted(epoch), transients: interrupted(transients) }
  return { store, state, interrupted: { ...store, ...parts } }
}

describe('a site-wide logout that is interrupted at any call to the store', () => {
  it('rule 17: leaves nothing behind that survives the next one', async () => {
    for (const isDone of [true, false]) {
      for (let left = 0, isThrough = false; !isThrough; left++) {
        const { store, state, interrupted } = interruptedStore()
        const host = new SimpleHost()
        const [own, other] = [interrupted, store].map((each) => createLimiterWorld({ ...wide, host, store: each }))
        if (!own || !other) throw new Error('There are no processes.')
        const [admin, dora] = [String(await own.login(1)), String(await other.login(5))]
        Object.assign(state, { left, isDone, calls: 0 })
        const logout = await own.limiter.sessions
          .logoutAllUsers({ userId: 1, token: tokenOf(admin) })
          .catch(() => false)
        isThrough = logout !== false && state.calls <= left
        const [ofAdmin, ofDora] = [await other.limiter.sessions.count(1), await other.limiter.sessions.count(5)]
        expect([ofAdmin, ofDora]).toEqual([1, logout === false ? expect.any(Number) : 0])
        const keeper = ofDora === 1 ? { userId: 5, token: tokenOf(dora) } : undefined
        await other.limiter.sessions.logoutAllUsers(keeper)
        expect([await other.live(1), await other.limiter.sessions.count(5)]).toEqual([[], ofDora])
        expect(await other.limiter.check(1, tokenOf(admin))).toMatchObject({ live: false })
      }
    }
  })
})

describe('a login that a site-wide logout overtakes', () => {
  /** Two processes with one store. What is to do is done before the first one's next writes. */
  async function twoProcesses(settings: object) {
    const store = memoryStore()
    const host = new SimpleHost()
    const todo: (() => Promise<unknown>)[] = []
    let meanwhile: Promise<unknown> | undefined
    const meddled = ['commit', 'changeState']
    const get = (target: typeof store.sessions, name: keyof typeof store.sessions) => {
      const member = target[name]
      if (typeof member !== 'function') return member
      return async (...given: never[]) => {
        if (meddled.includes(name)) meanwhile = todo.shift()?.()
        if (meddled.includes(name)) await meanwhile
        return Reflect.apply(member, target, given)
      }
    }
    const sessions = new Proxy(store.sessions, { get: get as never })
    const current = async () => {
      await meanwhile
      return store.epoch.current()
    }
    const own = { ...store, sessions, epoch: { current, advance: store.epoch.advance.bind(store.epoch) } }
    const [one, other] = [own, store].map((each) => createLimiterWorld({ store: each, host, settings }))
    if (!one || !other) throw new Error('There are no processes.')
    return { one, other, host, store, todo }
  }

  it('rule 78: is stamped anew, and told once', async () => {
    const { one, other, host, todo } = await twoProcesses({ maximum: 1, logic: 'logout_oldest' })
    const displaced = String(await one.login(7))
    one.fired.length = 0
    todo.push(() => other.limiter.sessions.logoutAllUsers())
    const id = String(await one.login(7))
    expect(await other.limiter.sessions.list(7)).toMatchObject([{ token: tokenOf(id) }])
    expect(one.fired).toEqual([['sessmgr_destroy_oldest_session', 7]])
    expect(host.ids).not.toContain(displaced)
  })

  it('rule 5: stays stale if another login has its place by then', async () => {
    const { one, other, todo } = await twoProcesses({ maximum: 1, logic: 'block' })
    let inPlace: string | undefined
    todo.push(
      () => other.limiter.sessions.logoutAllUsers(),
      async () => {
        inPlace = await other.login(7)
      },
    )
    const id = String(await one.login(7))
    expect(await other.live(7)).toEqual([inPlace])
    expect(await one.live(7), 'not told as the session of this login').toEqual([tokenOf(String(inPlace))])
    expect(await one.limiter.check(7, tokenOf(id))).toMatchObject({ live: false, reason: 'logout_all' })
  })

  it('stays stale if the logout came after it', async () => {
    const { one, other, store } = await twoProcesses({})
    const { commit } = store.sessions
    store.sessions.commit = async (...given) => {
      const result = await commit.apply(store.sessions, given)
      await store.epoch.advance()
      return result
    }
    const id = String(await one.login(7))
    expect(await other.limiter.sessions.count(7)).toBe(0)
    expect(await one.limiter.check(7, tokenOf(id))).toMatchObject({ live: false, reason: 'logout_all' })
  })
})
