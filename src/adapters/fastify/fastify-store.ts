import { BoundedMap } from '../../ground/bounded-map.ts'
import type { HostRequest, HostSessionData, HostStore, SignedOutReason } from '../../guard/host-types.ts'
import { markerIn } from '../../guard/marker/session-marker.ts'
import { storeHandle } from '../../guard/request/visit.ts'
import type { LoginSession } from '../../guard/session-guard.ts'
import type { GuardedStore } from '../../guard/session-guards.ts'
import { answerCallback } from '../../guard/stores/answer-callback.ts'
import { storeCalls } from '../../guard/stores/store-calls.ts'
import type { ServiceCore } from '../../service/service-core.ts'
import type { FastifyVisit } from './fastify-visit.ts'

/** A store of @fastify/session behind the guard. */
export interface FastifyStore extends GuardedStore {
  readonly handle: HostStore
  /** Whose request a session object belongs to. */
  readonly visits: WeakMap<object, FastifyVisit>
  /** Runs a regeneration during which nothing is destroyed and nothing written. It must call the store at once. */
  quietly<T>(regenerate: () => T): T
  /** Runs what destroys the session of a request. It must call the store at once. */
  givingUp<T>(request: HostRequest, destroy: () => T): T
  /** The login session that was found to be live as its data was loaded. */
  judged(data: HostSessionData): LoginSession | undefined
  /** Why a session is over; undefined when it is not known to be. */
  reasonOf(sessionId: string): SignedOutReason | undefined
  /** Finds out which session a call asks for, which gets none. */
  askedFor(call: () => void): string | undefined
}

const known = new WeakMap<GuardedStore, FastifyStore>()

/** Finds the guard of a store, putting one up if need be: in place, because @fastify/session holds the very object. */
export function guardFastifyStore({ guards }: ServiceCore, store: HostStore): FastifyStore {
  const behind = guards.of(store, storeCalls)
  const found = known.get(behind)
  if (found) return found
  const guarded = putUpGuard(store, behind)
  known.set(behind, guarded)
  return guarded
}

function putUpGuard(store: HostStore, { calls, guard }: GuardedStore): FastifyStore {
  const handle = storeHandle()
  const visits = new WeakMap<object, FastifyVisit>()
  // The store is not told which request it reads for. What it found out travels with the session: in the marker object.
  const judged = new WeakMap<object, LoginSession>()
  const reasons = new BoundedMap<string, SignedOutReason>(10_000)
  let quiet = false
  let giver: HostRequest | undefined
  let asked: { id?: string } | undefined

  store.get = (sessionId, callback) => {
    if (!asked) return answerCallback(load(sessionId), callback)
    asked.id = sessionId
    callback(null)
  }
  store.set = (sessionId, session, callback) => {
    if (quiet) return callback?.()
    const visit = visits.get(session)
    if (visit) visit.wrote = true
    // A session that rolls is written at every request. Nearly always there is nothing new to write.
    if (callback && visit?.isUnchanged(session) && guard.canWait(sessionId, session)) return process.nextTick(callback)
    return answerCallback(guard.save(sessionId, session, visit?.view), callback)
  }
  store.destroy = (sessionId, callback) => {
    if (quiet) return callback?.()
    return answerCallback(guard.destroy(sessionId, giver), callback)
  }

  async function load(sessionId: string): Promise<HostSessionData | null> {
    const { data, session, ended } = await guard.load(sessionId)
    if (!data) {
      reasons.set(sessionId, ended ?? 'missing')
      return null
    }
    if (!session || !guard.markerOf(sessionId, data)) return data
    // The memory store hands out the same object again and again.
    const copy = { ...data }
    guard.mark(sessionId, copy, session)
    judged.set(markerIn(copy) as object, session)
    return copy
  }

  return {
    calls,
    guard,
    handle,
    visits,
    quietly(regenerate) {
      quiet = true
      try {
        return regenerate()
      } finally {
        quiet = false
      }
    },
    givingUp(request, destroy) {
      giver = request
      try {
        return destroy()
      } finally {
        giver = undefined
      }
    },
    judged(data) {
      const marker = markerIn(data)
      return marker && judged.get(marker)
    },
    reasonOf: (sessionId) => reasons.get(sessionId),
    askedFor(call) {
      const question: { id?: string } = {}
      asked = question
      try {
        call()
      } finally {
        asked = undefined
      }
      return question.id
    },
  }
}
