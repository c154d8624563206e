import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tracedSessions } from '../../../src/limiter/channels.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

const PARTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

type Note = (message: object) => void

/** Records the parts of a traced call, and its message as it is at each. */
function listenTo(name: 'login' | 'check' | 'store') {
  const seen: [part: string, message: Record<string, unknown>][] = []
  const channel = tracingChannel(`sessmgr.${name}`)
  const note = (part: string) => (message: object) => void seen.push([part, { ...message }])
  const [start, end, asyncStart, asyncEnd, error] = PARTS.map(note) as [Note, Note, Note, Note, Note]
  const handlers = { start, end, asyncStart, asyncEnd, error }
  channel.subscribe(handlers)
  onTestFinished(() => void channel.unsubscribe(handlers))
  return seen
}

function messagesOf(name: string): Record<string, unknown>[] {
  const seen: Record<string, unknown>[] = []
  const note = (message: unknown) => void seen.push(message as Record<string, unknown>)
  subscribe(name, note)
  onTestFinished(() => void unsubscribe(name, note))
  return seen
}

const BLOCK = { settings: { maximum: 1, logic: 'block' } }

describe('the channel of logins', () => {
  it('opens and closes once for each login, with its mode, its result and what it displaced', async () => {
    const seen = listenTo('login')
    const { login, limiter } = createLimiterWorld(BLOCK)
    await login(7)
    await login(7)
    expect(seen.map(([part]) => part)).toEqual([...PARTS.slice(0, 4), ...PARTS.slice(0, 4)])
    expect(seen[0]).toEqual(['start', { userId: 7 }])
    const whole = { userId: 7, mode: 'block', tries: 1, displaced: 0, result: 'admitted' }
    expect(seen[3]).toEqual(['asyncEnd', whole])
    expect(seen[7]).toEqual(['asyncEnd', { userId: 7, mode: 'block', result: 'refused' }])
    await limiter.settings.update({ logic: 'ask' })
    await login(7, { canAsk: true })
    expect(seen.at(-1)?.[1]).toMatchObject({ result: 'asked', mode: 'ask' })
    await limiter.settings.update({ logic: 'logout_oldest' })
    await login(7)
    expect(seen.at(-1)?.[1]).toMatchObject({ result: 'admitted', displaced: 1 })
  })

  it('closes with the error of a failed login', async () => {
    const seen = listenTo('login')
    const store = memoryStore()
    const failure = new Error('down')
    store.sessions.commit = () => Promise.reject(failure)
    await expect(createLimiterWorld({ store }).login(7)).rejects.toBe(failure)
    expect(seen.map(([part]) => part)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd'])
    expect(seen.at(-1)?.[1]).toMatchObject({ result: 'failed', error: failure })
  })
})

it('the channels of checks and store calls have the result, and the operation with the store', async () => {
  const [checks, calls] = [listenTo('check'), listenTo('store')]
  const { login, limiter } = createLimiterWorld(BLOCK)
  const token = tokenOf((await login(7)) as string)
  await limiter.check(7, token)
  await limiter.sessions.end(7, token)
  await limiter.check(7, token)
  const endsIn = (seen: typeof checks) => seen.filter(([part]) => part === 'asyncEnd').map(([, message]) => message)
  expect(endsIn(checks)).toEqual([{ result: 'live' }, { result: 'ended' }])
  expect(endsIn(calls)).toEqual(['read', 'commit', 'end'].map((operation) => ({ operation, store: 'memory' })))
})

it('the channels of sessions and logins have what the actions have', async () => {
  const names = ['session.started', 'session.ended', 'login.refused', 'login.would_limit']
  const [started, ended, refused, limited] = names.map((name) => messagesOf(`sessmgr.${name}`))
  const { login, limiter } = createLimiterWorld(BLOCK)
  const token = tokenOf((await login(7)) as string)
  await login(7)
  await limiter.sessions.end(7, token)
  const session = expect.objectContaining({ token, userId: 7 })
  expect(started).toEqual([{ session, replaced: null, displaced: [], adopted: false }])
  expect(refused).toEqual([expect.objectContaining({ userId: 7, mode: 'block', maximum: 1, asked: false })])
  expect(ended).toEqual([expect.objectContaining({ session, kind: 'app' })])
  const reporting = createLimiterWorld({ settings: { ...BLOCK.settings, enforce: false } })
  for (let logins = 0; logins < 2; logins++) await reporting.login(8)
  expect(limited).toEqual([expect.objectContaining({ userId: 8, would: 'refuse' })])
})

it('a store publishes its calls to a subscriber of one part alone', async () => {
  for (const part of ['start', 'asyncEnd', 'error'] as const) {
    const seen = messagesOf(`tracing:sessmgr.store:${part}`)
    const store = memoryStore()
    if (part === 'error') store.sessions.touch = () => Promise.reject(new Error('down'))
    await tracedSessions(store)
      .touch(7, tokenOf('none'), 60_000)
      .catch(() => {})
    expect(seen, part).toEqual([expect.objectContaining({ operation: 'touch', store: 'memory' })])
  }
})
