import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { createLimiterWorld, SimpleHost } from '../../support/limiter-world.ts'

const MANY = 900
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
    try {
      return await call()
    } finally {
      this.#underWay -= 1
    }
  }
}

/** A user with very many sessions, `lost` of the youngest of which the host has lost. */
async function createCrowd(logic: string, maximum: number, lost = 0) {
  const store = memoryStore()
  const host = new WatchedHost()
  for (let index = 0; index < MANY; index++) {
    const sessionId = `old ${index}`
    await store.sessions.adopt(USER, {
      sessionId,
      ttlMs: 60_000,
      ip: null,
      userAgent: null,
      device: null,
      generation: 0,
    })
    if (index < MANY - lost) host.ids.add(sessionId)
  }
  return { store, host, world: createLimiterWorld({ store, host, settings: { logic, maximum } }) }
}

describe('a login of a user with very many sessions', () => {
  it.each([2, 250])('asks the session store about a part of them, where that is enough for %d', async (maximum) => {
    const { host, world } = await createCrowd('block', maximum)
    expect(await world.login(USER)).toBeUndefined()
    expect(host.asked).toBe(250)
  })

  it('asks on until it is enough', async () => {
    const { host, world } = await createCrowd('block', 2, 400)
    expect(await world.login(USER)).toBeUndefined()
    expect(host.asked).toBe(500)
  })

  it('asks about each, but not at once, where a subscriber is told how many there are', async () => {
    const { host, world } = await createCrowd('block', 2, 400)
    const counts: number[] = []
    world.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', (reached, _, count) => {
      counts.push(count)
      return reached
    })
    expect(await world.login(USER)).toBeUndefined()
    expect([counts, host.asked, host.atOnce]).toEqual([[MANY - 400], MANY, 250])
  })

  it.each([
    ['allow', 1],
    ['logout_oldest', 3],
  ])('leaves as many as %s does, and deletes the others in parts', async (logic, left) => {
    const { host, world } = await createCrowd(logic, 3)
    await world.login(USER)
    expect(await world.limiter.sessions.count(USER)).toBe(left)
    expect(host.ids.size).toBe(left)
    expect(host.atOnce).toBe(250)
  })

  it('rule 6: is admitted when nearly all of them are lost', async () => {
    const { host, world } = await createCrowd('block', 2, MANY - 1)
    expect(await world.login(USER)).toBeDefined()
    expect(host.asked).toBe(MANY)
    expect(await world.limiter.sessions.count(USER)).toBe(2)
  })
})

describe('a host that can tell at once', () => {
  it('is asked about each session only when some are lost', async () => {
    const { host, world } = await createCrowd('block', 2)
    const questions: number[] = []
    host.holdsAll = async (ids) => {
      questions.push(ids.length)
      return ids.every((id) => host.ids.has(id))
    }
    expect(await world.login(USER)).toBeUndefined()
    expect([questions, host.asked]).toEqual([[250], 0])
    host.ids.delete(`old ${MANY - 1}`)
    expect(await world.login(USER)).toBeUndefined()
    expect([questions, host.asked]).toEqual([[250, 250], 250])
  })

  it('is not asked so about a single one', async () => {
    const { host, login } = createLimiterWorld({ settings: { maximum: 1, logic: 'block' } })
    host.holdsAll = async () => true
    host.ids.delete(String(await login(USER)))
    expect(await login(USER)).toBeDefined()
  })
})

describe('the sessions of a user', () => {
  it('are listed in pages, oldest first, each after the last of the page before', async () => {
    const { limiter, host, login } = createLimiterWorld({ settings: { maximum: 10 } })
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.push(String(await login(USER)))
    const all = await limiter.sessions.list(USER)
    const first = await limiter.sessions.list(USER, { limit: 2 })
    expect(first).toEqual(all.slice(0, 2))
    host.ids.delete(ids[2] ?? '')
    const second = await limiter.sessions.list(USER, { limit: 2, after: first[1]?.sequence })
    expect(second).toEqual(all.slice(3))
    expect(await limiter.sessions.list(USER, { after: second[1]?.sequence })).toEqual([])
    expect(await limiter.sessions.list(USER, {})).toHaveLength(4)
  })

  it('are asked of the session store for one page alone', async () => {
    const { host, world } = await createCrowd('block', 2)
    expect(await world.limiter.sessions.list(USER, { limit: 10 })).toHaveLength(10)
    expect(host.asked).toBe(250)
  })

  it.each([
    { limit: 0 },
    { limit: -1 },
    { limit: 1.5 },
    { limit: '2' },
    { after: 'x' },
    { after: -1 },
    { after: null },
  ])('are not listed for a page that is none: %j', async (page) => {
    const { limiter } = createLimiterWorld()
    await expect(limiter.sessions.list(USER, page as never)).rejects.toMatchObject({ code: 'invalid_option' })
  })
})
