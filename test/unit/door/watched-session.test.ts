import { describe, expect, it, vi } from 'vitest'
import type { HostSessionData } from '../../../src/door/host-types.ts'
import type { SessmgrStore } from '../../../src/index.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { VerdictWatch } from '../../../src/stores/store.ts'
import { createGuardWorld } from '../../support/guard-world.ts'

/** A process that is signed in as user 7 with the session "a", and whose watch says what it is told to. */
async function watchedWorld(isLive: boolean) {
  const begun: unknown[] = []
  const watch: VerdictWatch = {
    reading: (store) => Object.assign(Object.create(store), { isWatched: true }),
    begin: (session) => begun.push(session),
    isLive: () => isLive,
    drop: vi.fn(),
    whyNot: async () => undefined,
  }
  const memory: SessmgrStore = { ...memoryStore(), watch }
  const world = createGuardWorld({ memory })
  await world.signIn('a', 7)
  const asked = vi.spyOn(memory.sessions, 'useOf')
  const { get } = world.store
  const readFrom: boolean[] = []
  let failures = 0
  vi.spyOn(world.calls, 'read').mockImplementation((sessionId, call, from = world.store) => {
    readFrom.push('isWatched' in from)
    if ('isWatched' in from && failures-- > 0)
      return call.fail(Object.assign(new Error('lost'), { cause: 'closed' }) as never)
    get.call(world.store, sessionId, (_, data) => call.answer((data ?? undefined) as HostSessionData | undefined))
  })
  const loseConnection = () => {
    failures = 1
  }
  return { ...world, watch, begun, asked, readFrom, loseConnection }
}

const SESSION = { data: { user: 7 }, session: { userId: 7, token: tokenOf('a') } }

describe('a session that is watched', () => {
  it('is live without a question when the watch says so, and read over the watched connection', async () => {
    const { guard, asked, readFrom, begun } = await watchedWorld(true)
    expect(await guard.load('a')).toMatchObject(SESSION)
    expect(asked).not.toHaveBeenCalled()
    expect(readFrom).toEqual([true])
    expect(begun).toMatchObject([{ userId: 7, token: tokenOf('a') }])
  })

  it('is asked about once it was read, where the watch does not know', async () => {
    const { guard, asked, readFrom } = await watchedWorld(false)
    expect(await guard.load('a')).toMatchObject(SESSION)
    expect(asked).toHaveBeenCalledTimes(1)
    expect(readFrom).toEqual([true])
  })

  it('is over when the registry says so, and the watch does not know', async () => {
    const { guard, endInRegistry } = await watchedWorld(false)
    await endInRegistry(7, 'a')
    expect(await guard.load('a')).toEqual({ ended: { reason: 'ended' } })
  })

  it('is read once more, and asked about, when the watched connection was lost meanwhile', async () => {
    const { guard, asked, readFrom, loseConnection, watch } = await watchedWorld(true)
    loseConnection()
    expect(await guard.load('a')).toMatchObject(SESSION)
    expect(asked).toHaveBeenCalledTimes(1)
    expect(readFrom).toEqual([true, false])
    expect(watch.drop).not.toHaveBeenCalled()
  })

  it('is not read once more when there was no answer in time, and the watch is told', async () => {
    const { guard, calls, readFrom, watch } = await watchedWorld(true)
    vi.spyOn(calls, 'read').mockImplementation((_, call, from) => {
      readFrom.push(from !== undefined)
      call.fail(new Error('too late') as never)
    })
    await expect(guard.load('a')).rejects.toThrow('too late')
    expect(readFrom).toEqual([true])
    expect(watch.drop).toHaveBeenCalledTimes(1)
  })

  it('is asked about as ever by a process that has not seen it, or without a watch for its store', async () => {
    const world = await watchedWorld(true)
    const { guard } = world.twin()
    expect(await guard.load('a')).toMatchObject(SESSION)
    expect(world.asked).toHaveBeenCalledTimes(1)
    vi.spyOn(world.watch, 'reading').mockReturnValue(undefined)
    expect(await world.guard.load('a')).toMatchObject(SESSION)
    expect(world.asked).toHaveBeenCalledTimes(2)
    expect(world.readFrom).toEqual([false])
  })
})
