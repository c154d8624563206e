import session from 'express-session'
import { type Host, memoryStore, type SessmgrStore } from '../../src/index.ts'
import { registerSession } from './register-session.ts'
import { type RestUser, restHostOf } from './rest-users.ts'
import { AGENTS } from './user-agents.ts'

/** Many people who are signed in, for the admin screen. */
export interface Crowd {
  readonly store: SessmgrStore
  readonly sessionStore: session.MemoryStore
  readonly users: RestUser[]
  readonly host: Host<RestUser>
}

const DAY = 24 * 60 * 60_000
const agents = [...Object.values(AGENTS), 'MyCompanyApp/5.0']
const PLACES = ['Berlin, DE', 'Leipzig, DE', 'London, GB']

/**
 * Creates people who are signed in, with one to three sessions each, and every tenth with five.
 *
 * @param sizes The number of people, and of the sessions of a further user, "many", whose id is 7.
 */
export async function createCrowd(users: RestUser[], sizes: { people: number; sessions?: number }): Promise<Crowd> {
  const store = memoryStore()
  const sessionStore = new session.MemoryStore()
  const admit = async (userId: number, count: number) => {
    for (let index = 0; index < count; index++) {
      const ip = `203.0.113.${(userId + index) % 250}`
      const userAgent = agents[(userId + index) % agents.length] ?? null
      await registerSession({ registry: store, sessionStore }, userId, { ip, userAgent, ttlMs: 14 * DAY })
    }
    if (count > 0) await store.people.note([{ userId, at: Date.now(), live: count }])
  }
  const many: RestUser = { id: 7, login: 'many', role: 'subscriber' }
  const crowd = Array.from({ length: sizes.people }, (_, index): RestUser => {
    return { id: 1001 + index, login: `person${index + 1}`, role: 'subscriber' }
  })
  for (const [index, { id }] of crowd.entries()) await admit(id, index % 10 === 0 ? 5 : 1 + (index % 3))
  await admit(many.id, sizes.sessions ?? 0)
  const all = [...users, many, ...crowd]
  const byId = new Map(all.map((user) => [user.id, user]))
  const host = restHostOf(all)
  return {
    store,
    sessionStore,
    users: all,
    host: {
      ...host,
      users: {
        ...host.users,
        findById: (id) => byId.get(Number(id)),
        search: (text, limit) => all.filter(({ login }) => login.includes(text.toLowerCase())).slice(0, limit),
      },
      location: (ip) => PLACES[ip.length % PLACES.length],
    },
  }
}
