import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { hookCatalogue, SessmgrError, tokenOf } from '../../../src/index.ts'
import type { Answer } from '../../support/browser.ts'
import { type ExpressHost, type ExpressSetup, startExpressHost } from '../../support/express-host.ts'
import { EVERY_SESSION } from '../../support/record-actions.ts'

/** Everything that sessmgr says to anybody but the browser whose cookie it is. */
class Ears {
  readonly #heard: string[] = []

  hear(...said: unknown[]): void {
    for (const word of said) this.#heard.push(inspect(word, { depth: 10, maxStringLength: null }))
  }

  /** Hears an answer, all but the cookies that it sets. */
  async answer(coming: Promise<Answer>): Promise<Answer> {
    const answer = await coming
    const headers = [...answer.headers].filter(([name]) => name !== 'set-cookie')
    this.hear(answer.text, headers)
    return answer
  }

  /** Hears every hook with its parameters, the values of filters included. */
  hooks({ limiter: { hooks } }: ExpressHost): void {
    for (const name of Object.keys(hookCatalogue.filters) as (keyof typeof hookCatalogue.filters)[]) {
      hooks.addFilter(name as 'sessmgr_bypass', 'ears', (value, ...parameters) => {
        this.hear(name, value, parameters)
        return value
      })
    }
    for (const name of EVERY_SESSION) {
      hooks.addAction(name as 'sessmgr_session_ended', 'ears', (...parameters) => this.hear(name, parameters))
    }
  }

  /** Hears an error of sessmgr, all but its cause: that is the session store's own error. */
  error(error: unknown): void {
    const { cause: _cause, ...properties } = error as Error
    const { message, stack } = error as Error
    this.hear(message, stack, properties, JSON.stringify(error))
  }

  get everything(): string {
    return this.#heard.join('\n')
  }
}

async function listenTo(options: ExpressSetup) {
  const ears = new Ears()
  const host = await startExpressHost(options)
  ears.hooks(host)
  const consoles = (['log', 'info', 'warn', 'error', 'debug'] as const).map((method) => {
    return vi.spyOn(console, method).mockImplementation((...said) => ears.hear(...said))
  })
  return {
    host,
    ears,
    expectSecrecy(leastIds: number): void {
      for (const spy of consoles) spy.mockRestore()
      ears.hear(host.actions, host.logs)
      for (const error of host.errors) if (error instanceof SessmgrError) ears.error(error)
      const rawIds = [...host.store.everWritten]
      expect(rawIds.length).toBeGreaterThanOrEqual(leastIds)
      expect(rawIds.filter((id) => ears.everything.includes(id))).toEqual([])
    },
  }
}

const setups = [
  { way: 'plain', logic: 'allow' },
  { way: 'redirect', logic: 'block' },
  { way: 'limiter', logic: 'logout_oldest' },
] as const

describe('the raw session id stays between the browser and the session store', () => {
  test.each(setups)('in mode $logic with logins by $way', async ({ way, logic }) => {
    const { host, ears, expectSecrecy } = await listenTo({ way, settings: { maximum: 1, logic } })
    const [laptop, phone] = [host.browser(), host.browser()]
    for (const browser of [laptop, phone]) {
      await ears.answer(browser.post('/cart', { item: 'tea' }))
      await ears.answer(browser.login('alice'))
      await ears.answer(browser.get('/state'))
      await ears.answer(browser.login('alice', { accept: 'application/json' }))
    }
    const sessions = await host.limiter.sessions.list(2)
    ears.hear(sessions)
    await host.limiter.sessions.end(2, sessions[0]?.token ?? '')
    await ears.answer(laptop.get('/state'))
    await ears.answer(phone.get('/state'))

    await ears.answer(laptop.login('alice'))
    await host.limiter.sessions.endAll(2)
    await ears.answer(laptop.login('alice'))
    const last = tokenOf(laptop.sessionId() ?? '')
    await host.limiter.sessions.logoutAllUsers()
    await ears.answer(laptop.get('/state'))

    expect(ears.everything).toContain(sessions[0]?.token)
    expect(host.actions).toContainEqual(['sessmgr_session_invalidated', 2, last])
    expectSecrecy(5)
  })

  test('when the session store fails and says the id in its error, which the application gets as it is', async () => {
    const { host, ears, expectSecrecy } = await listenTo({})
    const [laptop, phone] = [host.browser(), host.browser()]
    await ears.answer(laptop.login('alice'))
    const id = laptop.sessionId()
    host.store.undeletable.add(id)
    Object.assign(host.store.destroyError, { message: `sess:${id} cannot be deleted` })
    await ears.answer(phone.login('alice'))
    await host.limiter.sessions.endAll(2)
    expect(host.logs).toHaveLength(1)
    expect((await ears.answer(laptop.get('/me'))).status).toBe(503)

    host.store.getError = new Error(`sess:${phone.sessionId()} cannot be read`)
    expect((await ears.answer(phone.get('/me'))).status).toBe(503)
    expect((await ears.answer(phone.login('alice'))).status).toBe(503)
    expect(host.errors).toContain(host.store.destroyError)
    expect(host.errors).toContain(host.store.getError)
    expectSecrecy(2)
  })

  test('when logins fail', async () => {
    const { host, ears, expectSecrecy } = await listenTo({ sessmgr: { deadlineMs: 500 } })
    const laptop = host.browser()
    await ears.answer(laptop.post('/cart', { item: 'tea' }))
    await ears.answer(laptop.login('nameless'))
    await ears.answer(laptop.login('alice'))
    const remove = host.limiter.hooks.addFilter('sessmgr_bypass', 'broken', () => {
      throw new Error('out of order')
    })
    await ears.answer(laptop.login('alice'))
    remove()
    host.limiter.hooks.addFilter('sessmgr_bypass', 'slow', () => new Promise<boolean>(() => {}))
    host.limiter.hooks.addAction('sessmgr_destroy_all_sessions', 'broken', () => {
      throw new Error('out of order')
    })
    await ears.answer(laptop.login('alice'))
    await host.limiter.sessions.endAll(2)
    expect(host.errors).toHaveLength(3)
    expect(host.logs).toHaveLength(1)
    expectSecrecy(2)
  })

  test('also with the default logger, which writes to the console', async () => {
    const { host, ears, expectSecrecy } = await listenTo({ sessmgr: { logger: undefined } })
    const laptop = host.browser()
    await ears.answer(laptop.login('alice'))
    host.store.undeletable.add(laptop.sessionId())
    Object.assign(host.store.destroyError, { message: `sess:${laptop.sessionId()} cannot be deleted` })
    await host.limiter.sessions.endAll(2)
    expect(ears.everything).toContain('[sessmgr] An ended session could not be deleted from the session store')
    expect(ears.everything).toContain(tokenOf(laptop.sessionId() ?? ''))
    expectSecrecy(1)
  })
})
