import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../../src/index.ts'
import { createLimiterWorld, SimpleHost } from '../../../support/limiter-world.ts'

const MANY = 600
const USER = 7

/** A host that notes how many calls are under way at a time, and how many there were. */
class WatchedHost extends SimpleHost {
  atOnce = 0
  asked = 0
  #underWay = 0

  override async exists(sessionId: string): Promise<boolean> {
    this.asked += 1
    return this.#watched(() => super.exists(sessionId))
  }

  override async destroy(sessionId: string): Promise<void> {
    return this.#watched(() => super.destroy(sessionId))
  }

  async #watched<T>(call: () => Promise<T>): Promise<T> {
    this.#underWay += 1
    this.atOnce = Math.max(this.atOnce, this.#underWay)
    return call().finally(() => {
      this.#underWay -= 1
    })
  }
}

/** A user with very many sessions, `lost` of the youngest of which the host has lost. */
async function createCrowd(logic: string, maximum: number, lost = 0) {
  const store = memoryStore()
  const host = new WatchedHost()
  const unknown = { ttlMs: 60_000, ip: null, userAgent: null, device: null, generation: 0 }
  for (let index = 0; index < MANY; index++) {
    const sessionId = `old ${index}`
    await store.sessions.adopt(USER, { sessionId, ...unknown })
    if (index < MANY - lost) host.ids.add(sessionId)
  }
  return { ...createLimiterWorld({ store, host, settings: { logic, maximum } }), host }
}

describe('a login of a user with very many sessions', () => {
  it('asks the session store about no more of them than it needs to know', async () => {
    for (const [maximum, lost, asked] of [
      [2, 0, 250],
      [250, 0, 250],
      [2, 300, 500],
    ] as const) {
      const { host, login, limiter } = await createCrowd('block', maximum, lost)
      expect(await login(USER)).toBeUndefined()
      expect([host.asked, host.atOnce], `maximum ${maximum}, ${lost} lost`).toEqual([asked, 250])
      host.asked = 0
      expect(await limiter.sessions.list(USER, { limit: 10 })).toHaveLength(10)
      expect(host.asked, 'for one page').toBe(250)
    }
  })

  it('asks about each, but not at once, where a subscriber is told how many there are', async () => {
    const { host, login, limiter } = await createCrowd('block', 2, 300)
    const counts: number[] = []
    limiter.hooks.addFilter('sessmgr_reached_limit', 'test', (reached, _, count) => {
      counts.push(count)
      return reached
    })
    expect(await login(USER)).toBeUndefined()
    expect([counts, host.asked, host.atOnce]).toEqual([[MANY - 300], MANY, 250])
  })

  it('deletes the sessions that make room in parts', async () => {
    const { host, login, limiter } = await createCrowd('logout_oldest', 3)
    await login(USER)
    expect([await limiter.sessions.count(USER), host.ids.size, host.atOnce]).toEqual([3, 3, 250])
  })

  it('rule 6: is admitted when nearly all of them are lost', async () => {
    const { host, login, limiter } = await createCrowd('block', 2, MANY - 1)
    expect(await login(USER)).toBeDefined()
    expect([host.asked, await limiter.sessions.count(USER)]).toEqual([MANY, 2])
  })
})

it('a host that can tell at once is asked about each session only when some are lost, or about a single one', async () => {
  const { host, login } = await createCrowd('block', 2)
  const questions: number[] = []
  host.holdsAll = async (ids) => {
    questions.push(ids.length)
    return ids.every((id) => host.ids.has(id))
  }
  expect(await login(USER)).toBeUndefined()
  expect([questions, host.asked]).toEqual([[250], 0])
  host.ids.delete(`old ${MANY - 1}`)
  expect(await login(USER)).toBeUndefined()
  expect([questions, host.asked]).toEqual([[250, 250], 250])
  const single = createLimiterWorld({ settings: { maximum: 1, logic: 'block' } })
  single.host.holdsAll = async () => true
  single.host.ids.delete(String(await single.login(USER)))
  expect(await single.login(USER)).toBeDefined()
})
