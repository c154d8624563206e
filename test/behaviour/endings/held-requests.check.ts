import { describe, expect, test } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { type ExpressHost, startExpressHost } from '../../support/express-host.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { rounds } from '../../support/rounds.ts'

const TRIALS = rounds(3)
const IN_FLIGHT = 25

/** When a held request writes to its session: before it waits, after it, or after it with a save of its own. */
const WRITES = ['early', 'late', 'save'] as const

/** Every way in which a session ends from outside the request that is held. */
const ENDS: Record<string, (host: ExpressHost, login: string, browser: Browser) => Promise<unknown>> = {
  'logged out': (_host, _login, browser) => browser.post('/logout'),
  displaced: (host, login) => host.browser().login(login),
  'replaced by a new login in its browser': (_host, login, browser) => browser.login(login),
  'left for another account': (_host, _login, browser) => browser.login('alice'),
  'logged out by force': (host, login) => host.limiter.sessions.endAll(idOf(login)),
  'ended singly': (host, login, browser) => host.limiter.sessions.end(idOf(login), tokenOf(browser.sessionId() ?? '')),
  'destroyed in its store': (host, _login, browser) =>
    new Promise((resolve) => host.store.destroy(browser.sessionId() ?? '', resolve)),
}

function idOf(login: string): number {
  return 1000 + Number(login.slice('user'.length))
}

/** What is left of a session after its trial. */
interface Outcome {
  readonly heldAnswer: number
  /** Whether the store held it when the held request had been answered. */
  readonly wasInStore: boolean
  readonly me: number
  readonly count: number
  /** Whether it does after the owner's next request. */
  readonly inStore: boolean
}

const OVER = { heldAnswer: 204, wasInStore: false, me: 401, inStore: false }

interface Trial {
  readonly host: ExpressHost
  readonly login: string
  readonly browser: Browser
  readonly id: string
  /** Settles when the held request has been answered. */
  readonly held: Promise<number>
  release(): void
}

/** Signs a user in and holds a request of theirs open. The browser of the trial keeps the cookie that it has now. */
async function holdRequest(host: ExpressHost, index: number): Promise<Trial> {
  const login = `user${index}`
  const browser = await host.signedIn(login)
  const gate = host.gates.at(`${login} ${index}`)
  const write = WRITES[index % WRITES.length]
  const held = browser.copy().post(`/hold/${encodeURIComponent(`${login} ${index}`)}?write=${write}`)
  await gate.arrived
  return {
    host,
    login,
    browser,
    id: browser.sessionId() ?? '',
    held: held.then(({ status }) => status),
    release: () => gate.open(),
  }
}

async function outcomeOf({ host, login, browser, id, held }: Trial): Promise<Outcome> {
  const heldAnswer = await held
  const wasInStore = host.store.read(id) !== undefined
  const me = await browser.me()
  return {
    heldAnswer,
    wasInStore,
    me,
    count: await host.limiter.sessions.count(idOf(login)),
    inStore: host.store.read(id) !== undefined,
  }
}

/** When the session ends: before the held request goes on, while it writes, or at the same moment. */
const MOMENTS: Record<string, (trial: Trial, end: () => Promise<unknown>) => Promise<void>> = {
  'when it saves afterwards': async (trial, end) => {
    await end()
    trial.release()
  },
  'when its write is under way meanwhile': async (trial, end) => {
    const write = trial.host.store.holdNextWrite(trial.id)
    trial.release()
    await write.arrived
    await end()
    write.open()
  },
  'when it saves at the same moment': async (trial, end) => {
    trial.release()
    await end()
  },
}

const moments = Object.keys(MOMENTS).map((moment) => ({ moment, way: 'plain' as const, names: Object.keys(ENDS) }))
const direct = {
  moment: 'when it saves afterwards',
  way: 'limiter' as const,
  names: ['displaced', 'logged out by force'],
}

test.each([...moments, direct])(
  'a request that is held while its session ends does not bring it back $moment, with logins by $way',
  async ({ moment, way, names }) => {
    for (const name of names) {
      const host = await startExpressHost({ way })
      const count = ['displaced', 'replaced by a new login in its browser'].includes(name) ? 1 : 0
      const outcomes = await inParallel(TRIALS, IN_FLIGHT, async (index) => {
        const trial = await holdRequest(host, index)
        await MOMENTS[moment]?.(trial, async () => ENDS[name]?.(host, trial.login, trial.browser.copy()))
        return outcomeOf(trial)
      })
      expect([name, outcomes]).toEqual([name, outcomes.map(() => ({ ...OVER, count }))])
    }
  },
)

describe('requests that are held during a site-wide logout', () => {
  test.each(['afterwards', 'before it is over'])('bring no session back when they save %s', async (when) => {
    const host = await startExpressHost()
    const trials = await inParallel(rounds(6), IN_FLIGHT, (index) => holdRequest(host, index))
    const writes = trials.map(({ id }) => host.store.holdNextWrite(id))
    if (when === 'before it is over') {
      for (const trial of trials) trial.release()
      await Promise.all(writes.map(({ arrived }) => arrived))
    }
    await host.limiter.sessions.logoutAllUsers()
    for (const trial of trials) trial.release()
    for (const write of writes) write.open()
    const outcomes = await inParallel(trials.length, IN_FLIGHT, (index) => outcomeOf(trials[index] as Trial))
    for (const outcome of outcomes) expect(outcome).toEqual({ ...OVER, wasInStore: true, count: 0 })

    const invalidated = host.actions.filter(([name]) => name === 'sessmgr_session_invalidated')
    expect(invalidated.map(([, userId]) => userId).toSorted()).toEqual(
      trials.map(({ login }) => idOf(login)).toSorted(),
    )
  })
})

test('a request that is held in a session from before the limit does not bring it back', async () => {
  const old = await startExpressHost({ unlimited: true })
  const host = await startExpressHost({ store: old.store.twin() })
  await host.browser().get('/')
  for (const write of WRITES) {
    const laptop = await old.signedIn('alice')
    const held = laptop.copy(host.origin).post(`/hold/${write}?write=${write}`)
    await host.gates.at(write).arrived
    expect(await host.limiter.sessions.end(2, tokenOf(laptop.sessionId() ?? ''))).toBe(true)
    host.gates.at(write).open()
    expect((await held).status).toBe(204)
    expect(host.store.read(laptop.sessionId())).toBeUndefined()
    expect(await laptop.copy(host.origin).me()).toBe(401)
  }
})

test('without the limit a held request does bring its session back, so these trials can tell', async () => {
  const host = await startExpressHost({ unlimited: true })
  for (const write of WRITES) {
    const laptop = await host.signedIn('alice')
    const held = laptop.copy().post(`/hold/${write}?write=${write}`)
    await host.gates.at(write).arrived
    await laptop.copy().post('/logout')
    expect(await laptop.copy().me()).toBe(401)
    host.gates.at(write).open()
    await held
    expect(await laptop.me()).toBe(200)
  }
})

test('requests that are held in one session, of which each writes something else, bring nothing back', async () => {
  const host = await startExpressHost()
  const laptop = await host.signedIn('alice')
  const id = laptop.sessionId()
  const gates = Array.from({ length: 12 }, (_, index) => ({
    name: `gate${index}`,
    gate: host.gates.at(`gate${index}`),
  }))
  const held = gates.map(({ name }, index) => {
    return laptop.copy().post(`/hold/${name}?write=${WRITES[index % WRITES.length]}`)
  })
  await Promise.all(gates.map(({ gate }) => gate.arrived))
  for (const [index, { gate }] of gates.entries()) {
    gate.open()
    if (index === 6) await host.limiter.sessions.endAll(2)
  }
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(12).fill(204))
  expect(host.store.read(id)).toBeUndefined()
  expect(await laptop.me()).toBe(401)
})

describe('a login whose answer is still pending', () => {
  test.each(['plain', 'limiter'] as const)('by %s gives no session once it is displaced', async (way) => {
    const host = await startExpressHost({ way })
    const trials = await inParallel(TRIALS, 10, async (index) => {
      const login = `user${index}`
      const [slow, quick] = [host.browser(), host.browser()]
      const answer = slow.login(login, {}, `/login?gate=${login}`)
      await host.gates.at(login).arrived
      await quick.login(login)
      host.gates.at(login).open()
      await answer
      return [await slow.me(), await quick.me(), await host.limiter.sessions.count(idOf(login))]
    })
    expect(trials).toEqual(Array(TRIALS).fill([401, 200, 1]))
    expect(host.store.ids()).toHaveLength(TRIALS)
  })

  test('gives none after a site-wide logout', async () => {
    const host = await startExpressHost()
    const slow = host.browser()
    const answer = slow.login('alice', {}, '/login?gate=answer')
    await host.gates.at('answer').arrived
    await host.limiter.sessions.logoutAllUsers()
    host.gates.at('answer').open()
    await answer
    expect(await slow.me()).toBe(401)
    expect(host.store.ids()).toEqual([])
  })
})
