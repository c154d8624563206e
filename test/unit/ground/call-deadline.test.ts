import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import { CallDeadline, PendingCall } from '../../../src/ground/call-deadline.ts'
import { SessmgrError } from '../../../src/ground/errors.ts'
import { deferred, nextTurn } from '../../support/deferred.ts'

const DEADLINE_MS = 100
const never = () => new Promise<never>(() => {})

const unavailable = expect.objectContaining({ code: 'store_unavailable' })
afterEach(() => vi.restoreAllMocks())

/** A deadline that a call has just gone past, and the means to answer that call late. */
async function stuckDeadline() {
  const deadline = new CallDeadline(DEADLINE_MS, 'store')
  const late = deferred<string>()
  await expect(deadline.run(() => late.promise)).rejects.toEqual(unavailable)
  return { deadline, late }
}

describe('a call that is answered in time', () => {
  const deadline = new CallDeadline(DEADLINE_MS, 'store')

  it('rejects with store_unavailable and the cause when the store fails, also before it returns a promise', async () => {
    const cause = new Error('ECONNREFUSED')
    const failing = deadline.run(() => Promise.reject(cause))
    await expect(failing).rejects.toMatchObject({
      code: 'store_unavailable',
      cause,
      message: expect.stringMatching(/^The store could not be used/),
    })
    const throwing = deadline.run(() => {
      throw cause
    })
    await expect(throwing).rejects.toMatchObject({ code: 'store_unavailable', cause })
    const conflict = new SessmgrError('login_conflict', 'conflict')
    await expect(deadline.run(() => Promise.reject(conflict))).rejects.toBe(conflict)
    const atAllAddresses = deadline.run(() => Promise.reject(new AggregateError([cause])))
    // All that the error handler of Express writes down.
    for (const call of [failing, throwing, atAllAddresses]) {
      await expect(call).rejects.toMatchObject({
        stack: expect.stringMatching(/^.*Try again shortly\.\nCaused by: ECONNREFUSED\n {4}at /),
      })
    }
  })
})

describe('a call that is not answered in time', () => {
  it('rejects after the deadline, and not before', async () => {
    const deadline = new CallDeadline(DEADLINE_MS, 'Redis server')
    const start = performance.now()
    const message = `The Redis server did not respond within ${DEADLINE_MS} ms. Try again shortly.`
    await expect(deadline.run(never)).rejects.toMatchObject({ code: 'store_unavailable', message })
    const took = performance.now() - start
    expect(took).toBeGreaterThanOrEqual(DEADLINE_MS)
  })
})

describe('the timer', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** Lets time pass, and the turn of the event loop after each tick. */
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

  it('stops when every call has gone past its deadline, and starts again with the next', async () => {
    const deadline = new CallDeadline(DEADLINE_MS, 'store')
    const outcome = expect(deadline.run(never)).rejects.toEqual(unavailable)
    await pass(DEADLINE_MS + 2010)
    await outcome
    expect(vi.getTimerCount()).toBe(0)
    const next = expect(deadline.run(never)).rejects.toEqual(unavailable)
    await pass(DEADLINE_MS + 110)
    await next
  })
})

test('the process may end while no call waits, and not while one does', async () => {
  const started = vi.spyOn(globalThis, 'setInterval')
  const deadline = new CallDeadline(60_000, 'store')
  const [first, second] = [deferred(), deferred()]
  const running = deadline.run(() => first.promise)
  const timer = started.mock.results[0]?.value as NodeJS.Timeout
  expect(timer.hasRef()).toBe(true)
  first.resolve()
  await running
  await vi.waitFor(() => expect(timer.hasRef()).toBe(false))
  const next = deadline.run(() => second.promise)
  expect(timer.hasRef()).toBe(true)
  second.resolve()
  await next
})

describe('a store that does not answer', () => {
  it('is called freely again as soon as it answers such a call', async () => {
    const { deadline } = await stuckDeadline()
    await vi.waitFor(() => expect(deadline.run(async () => 'well again')).resolves.toBe('well again'), 10_000)
    const answers = await Promise.all(Array.from({ length: 10 }, () => deadline.run(async () => 1)))
    expect(answers).toHaveLength(10)
  })

  it('is called freely again as soon as it gives a late answer', async () => {
    const { deadline, late } = await stuckDeadline()
    late.resolve('late')
    await sleep(0)
    await expect(deadline.run(async () => 'well again')).resolves.toBe('well again')
  })

  it('has not answered when a client gives up waiting for it', async () => {
    const { deadline, late } = await stuckDeadline()
    late.reject(new Error('The command timed out'))
    await sleep(0)
    const call = vi.fn(never)
    await expect(deadline.run(call)).rejects.toEqual(unavailable)
    expect(call).not.toHaveBeenCalled()
  })

  it('is not what it looks like when this process itself was held up: answers that lie ready are read first', async () => {
    const deadline = new CallDeadline(DEADLINE_MS, 'store')
    const { port1: store, port2: process } = new MessageChannel()
    const call = deadline.run(() => once(process, 'message'))
    // After this, the timers are the next that the event loop looks at.
    await nextTurn()
    store.postMessage('answer')
    for (const end = performance.now() + 2 * DEADLINE_MS; performance.now() < end; ) {}
    expect(await call).toEqual(['answer'])
    store.close()
  })
})

describe('a call that has waited for another store before', () => {
  class Call extends PendingCall {
    readonly fail = vi.fn()
  }

  it('does not show that the second one hangs', async () => {
    const [hanging, deadline] = [new CallDeadline(DEADLINE_MS, 'store'), new CallDeadline(DEADLINE_MS, 'store')]
    const moved = new Call()
    hanging.begin(moved)
    await sleep(DEADLINE_MS / 2)
    hanging.failed(moved, new Error('closed'))
    deadline.begin(moved)
    await vi.waitFor(() => expect(moved.fail).toHaveBeenCalledTimes(2))
    await expect(deadline.run(async () => 'answered')).resolves.toBe('answered')
  })
})

describe('work in the background', () => {
  it('holds no more connections than it may, however long its rows are locked', async () => {
    const deadline = new CallDeadline(1, 'store', { mostLate: 2 })
    const hanging: ReturnType<typeof deferred<string>>[] = []
    const hang = () => {
      hanging.push(deferred())
      return hanging.at(-1)?.promise ?? never()
    }
    for (let call = 0; call < 5; call++) await expect(deadline.run(hang, true)).rejects.toEqual(unavailable)
    expect(hanging).toHaveLength(2)
    hanging[0]?.reject(new Error('cut off'))
    await nextTurn()
    await expect(deadline.run(hang, true)).rejects.toEqual(unavailable)
    expect(hanging).toHaveLength(3)
    hanging[1]?.resolve('late')
    await nextTurn()
    await expect(deadline.run(async () => 'value')).resolves.toBe('value')
  })
})

describe('a store of which only a part hangs', () => {
  it('answers all calls that do not, while others run into their deadline', async () => {
    const deadline = new CallDeadline(60, 'store')
    const outcomes = { answered: 0, refused: 0, hung: 0 }
    const calls: Promise<unknown>[] = []
    for (let index = 0; index < 150; index++) {
      const hangs = index % 3 === 0
      const call = deadline.run(() => (hangs ? new Promise(() => {}) : sleep(1)))
      calls.push(
        call.then(
          () => outcomes.answered++,
          () => (hangs ? outcomes.hung++ : outcomes.refused++),
        ),
      )
      await sleep(2)
    }
    await Promise.all(calls)
    expect(outcomes).toEqual({ answered: 100, refused: 0, hung: 50 })
  })
})
