import { describe, expect, it } from 'vitest'
import { type DocumentDriver, documentStore } from '../../../../src/document.ts'
import { tokenOf } from '../../../../src/index.ts'
import { DocumentRows } from '../../../../src/stores/document/document-rows.ts'
import { fakeClock } from '../../../../src/testing.ts'
import { newSession } from '../../../contracts/store/store-case.ts'
import { MemoryRows } from '../../../support/memory-driver.ts'

/** A store whose driver notes what it is asked, and can be interrupted. */
function watched(change: (driver: DocumentDriver) => Partial<DocumentDriver> = () => ({})) {
  const clock = fakeClock()
  const rows = new MemoryRows(clock)
  const asked: (readonly string[])[] = []
  let swaps = 0
  const driver = rows.driver()
  const noting: DocumentDriver = {
    ...driver,
    get(keys) {
      asked.push(keys)
      return driver.get(keys)
    },
    swap(...call) {
      swaps += 1
      return driver.swap(...call)
    },
  }
  const logger = { warn() {}, error() {} }
  const store = documentStore({ ...noting, ...change(noting) }, { logger })
  return { store, rows, clock, asked, swaps: () => swaps, other: documentStore(rows.driver(), { logger }) }
}

describe('a store of documents', () => {
  it('asks once for all that requests want to know in one turn of the event loop', async () => {
    const { store, asked } = watched()
    const users = Array.from({ length: 50 }, (_, n) => n)
    await Promise.all(users.flatMap((user) => [store.sessions.useOf(user, tokenOf('a')), store.epoch.current()]))
    expect(asked).toHaveLength(1)
    expect(new Set(asked[0])).toEqual(new Set([...users.map((user) => `u:${user}`), 'epoch']))
  })

  it('asks for at most 500 rows in one call', async () => {
    const { store, asked } = watched()
    const users = Array.from({ length: 1001 }, (_, n) => n)
    await Promise.all(users.map((user) => store.sessions.useOf(user, tokenOf('a'))))
    expect(asked.map((keys) => keys.length)).toEqual([500, 500, 1])
    expect(new Set(asked.flat())).toEqual(new Set(users.map((user) => `u:${user}`)))
  })

  it('reads another text at the same revision, as a failover that loses a write leaves it', async () => {
    const { store, rows } = watched()
    const { now } = await rows.driver().get([])
    const write = (id: string) => {
      const s = [[id, now, 0, 60_000]]
      return rows.driver().swap('u:1', undefined, { revision: 'a', text: JSON.stringify({ s }) }, 60_000)
    }
    await write('a')
    expect((await store.sessions.useOf(1, tokenOf('a')))?.generation).toBe(0)
    await rows.driver().wipe()
    await write('b')
    expect(await store.sessions.useOf(1, tokenOf('a'))).toBeUndefined()
    expect((await store.sessions.useOf(1, tokenOf('b')))?.generation).toBe(0)
  })

  it('gives up, as when the store is away, where others write the same row without end', async () => {
    const store = documentStore({ ...new MemoryRows().driver(), swap: async () => false }, { deadlineMs: 20 })
    await expect(store.epoch.advance()).rejects.toMatchObject({
      code: 'store_unavailable',
      status: 503,
      message: expect.stringContaining('Other writers kept changing the same row'),
    })
  })

  it('purges expired rows by the way, faster than rows are written', async () => {
    const { store, rows, clock } = watched()
    for (let n = 0; n < 150; n++) await store.transients.set(`text ${n}`, '', 10)
    clock.advance(1000)
    for (let n = 0; n < 100; n++) await store.transients.set('one', '', 1000)
    expect(rows.size).toBe(1)
  })

  it('gives up the record of a use when others write the user, and still says whether the session is there', async () => {
    let isBusy = false
    let tries = 0
    const { store, clock } = watched(({ swap }) => ({
      async swap(...call) {
        tries += 1
        return !isBusy && swap(...call)
      },
    }))
    await store.sessions.adopt(1, newSession('a'))
    clock.advance(50)
    isBusy = true
    tries = 0
    expect(await store.sessions.touch(1, tokenOf('a'), 60_000)).toBe(true)
    expect(await store.sessions.touch(1, tokenOf('b'), 60_000)).toBe(false)
    expect(tries).toBe(2)
  })

  it('tries longer to record the first use in two minutes, so that no login takes the session for unused', async () => {
    let busyFor = 0
    const { store, clock } = watched(({ swap }) => ({ swap: async (...call) => busyFor-- <= 0 && swap(...call) }))
    await store.sessions.adopt(1, newSession('a', 600_000))
    clock.advance(120_000)
    busyFor = 5
    expect(await store.sessions.touch(1, tokenOf('a'), 600_000)).toBe(true)
    const { sessions, now } = await store.sessions.read(1)
    expect(sessions[0]?.record.lastSeenAt).toBe(now)
  })

  it('keeps names apart that no key can spell out', async () => {
    const { store } = watched()
    const names = ['\ud800', '\udbff', 'x'.repeat(1000), 'x'.repeat(1001), 'ä'.repeat(100), '#', 'a b', '']
    for (const name of names) await store.transients.set(name, name, 60_000)
    for (const name of names) expect(await store.transients.get(name)).toBe(name)
  })

  it('fails only the change that fails among those that it writes together', async () => {
    const { store, swaps } = watched()
    const before = store.sessions.adopt(1, newSession('a'))
    let runs = 0
    const failing = store.sessions.changeState(1, () => {
      runs += 1
      if (runs > 1) throw new RangeError('fails the second time')
      return { result: undefined, next: { counts: {} } }
    })
    const after = store.sessions.adopt(1, newSession('b'))
    await expect(failing).rejects.toThrow(RangeError)
    expect(await Promise.all([before, after])).toMatchObject([{ isNew: true }, { isNew: true }])
    expect((await store.sessions.read(1)).sessions).toHaveLength(2)
    expect(swaps()).toBeLessThanOrEqual(2)
  })
})

describe('a write whose reply does not say that it was made', () => {
  const lost = () => Promise.reject(new Error('The connection was lost'))

  it('is recognized by its name, because the reply was lost or the client sent it twice, and if others followed', async () => {
    for (const [others, reply] of [
      [0, lost],
      [3, async () => false],
    ] as const) {
      let isOver = false
      const { store, other } = watched(({ swap }) => ({
        async swap(...call) {
          const isMade = await swap(...call)
          if (isOver || !call[0].startsWith('u:')) return isMade
          isOver = true
          for (let n = 0; n < others; n++) await other.sessions.adopt(1, newSession(`other ${n}`))
          return reply()
        },
      }))
      await other.sessions.adopt(1, newSession('displaced'))
      const read = await store.sessions.read(1)
      const made = await store.sessions.commit(1, read, { admit: newSession('new'), end: [tokenOf('displaced')] })
      expect(made).toMatchObject({ committed: true, ended: [{ sessionId: 'displaced' }] })
      const ids = (await store.sessions.read(1)).sessions.map(({ sessionId }) => sessionId)
      expect(ids).toEqual(['new', 'other 0', 'other 1', 'other 2'].slice(0, others + 1))
    }
  })

  it('is recognized for each of the changes that it makes', async () => {
    let isOver = false
    const { store } = watched(({ swap }) => ({
      async swap(...call) {
        const isMade = await swap(...call)
        if (isOver) return isMade
        isOver = true
        return lost()
      },
    }))
    const adopted = await Promise.all(['a', 'b', 'c'].map((id) => store.sessions.adopt(1, newSession(id))))
    expect(adopted.map((one) => [one?.sessionId, one?.isNew])).toEqual(['a', 'b', 'c'].map((id) => [id, true]))
    expect((await store.sessions.read(1)).sessions).toHaveLength(3)
  })

  it('that is made late, after the row was emptied, brings nothing back', async () => {
    let late = async () => true
    const { store, other } = watched(({ swap }) => ({
      swap(...call) {
        late = () => swap(...call)
        return lost()
      },
    }))
    await expect(store.sessions.adopt(1, newSession('a'))).rejects.toMatchObject({ code: 'store_unavailable' })
    await other.sessions.adopt(1, newSession('b'))
    await other.sessions.erase(1)
    expect(await late()).toBe(false)
  })
})

/** Rows of a driver that itself sends calls of one turn together. */
function pipelined() {
  const memory = new MemoryRows()
  const driver = memory.driver()
  const asked: (readonly [keys: readonly string[], exactly: boolean | undefined])[] = []
  const rows = new DocumentRows(
    {
      ...driver,
      isPipelined: true,
      get(keys, exactly) {
        asked.push([keys, exactly])
        return driver.get(keys)
      },
    },
    { deadlineMs: 1000 },
  )
  const write = (key: string, text: string) => rows.change(key, () => ({ result: undefined, write: { text } }))
  return { rows, asked, write }
}

it('a reading that must know the time exactly is not served by one that need not', async () => {
  const { rows, asked } = pipelined()
  await Promise.all([rows.read('a'), rows.read('a', true), rows.read('a')])
  expect(asked.map(([, exactly]) => exactly)).toEqual([false, true])
})

it('what was written here is read again at once', async () => {
  const { rows, write } = pipelined()
  // All within one turn.
  const before = (await rows.read('a')).text
  await write('a', 'new')
  expect([before, (await rows.read('a')).text]).toEqual([undefined, 'new'])
})
