import { RateLimiterMemory } from 'rate-limiter-flexible'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { PasswordAttempt, PasswordAttempts } from '../../../src/index.ts'
import { basic } from '../../support/rest-client.ts'
import { startRestHost } from '../../support/rest-host.ts'

const SETTINGS = '/sessmgr/v1/settings'

/** An application whose rate limiter lets five wrong passwords pass, for an address and an account. */
async function setUp() {
  const limiter = new RateLimiterMemory({ points: 5, duration: 60 })
  const keyOf = ({ ip, name }: PasswordAttempt) => `${ip} ${name.toLowerCase()}`
  const asked: PasswordAttempt[] = []
  const failed: PasswordAttempt[] = []
  const attempts: PasswordAttempts = {
    async allow(attempt) {
      asked.push(attempt)
      return ((await limiter.get(keyOf(attempt)))?.remainingPoints ?? 1) > 0
    },
    failed(attempt) {
      failed.push(attempt)
      return limiter.consume(keyOf(attempt)).catch(() => {})
    },
  }
  const host = await startRestHost({ attempts })
  onTestFinished(() => host.close())
  const guess = (name: string, password = 'wrong') =>
    host.call('GET', SETTINGS, { headers: basic(name, password) }).then((answer) => answer)
  return { host, asked, failed, guess }
}

describe('guessing application passwords', () => {
  it('is stopped by the rate limiter of the application, with 429 and a time to come back', async () => {
    const { guess } = await setUp()
    for (let guesses = 0; guesses < 5; guesses++) expect((await guess('admin')).status).toBe(401)
    const answer = await guess('admin')
    expect(answer.status).toBe(429)
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.json).toEqual({
      code: 'too_many_attempts',
      message: 'Too many attempts. Try again in 60 s.',
      data: { status: 429 },
    })
  })

  it('never shuts out whoever knows the right password', async () => {
    const { host, asked, guess } = await setUp()
    const headers = await host.scriptOf('admin')
    for (let guesses = 0; guesses < 6; guesses++) await guess('admin')
    expect((await guess('admin')).status).toBe(429)
    const before = asked.length
    expect((await host.call('GET', SETTINGS, { headers })).status).toBe(200)
    expect(asked).toHaveLength(before)
  })

  it('with a name longer than any e-mail address is 401 at once, and nobody hears of the name', async () => {
    const { asked, failed, guess } = await setUp()
    expect((await guess('x'.repeat(320))).status).toBe(401)
    expect([asked.length, failed.length]).toEqual([1, 1])
    for (const name of ['x'.repeat(321), 'ü'.repeat(321), 'x'.repeat(11_000)]) {
      expect((await guess(name)).status).toBe(401)
    }
    expect([asked.length, failed.length]).toEqual([1, 1])
  })

  it('is told with address and name as they came, for a wrong password, an unknown name and a wrong account', async () => {
    const { host, asked, failed, guess } = await setUp()
    await guess('Admin')
    await guess('nobody')
    await guess('nobody@example.test')
    await guess('bob')
    const expected = ['Admin', 'nobody', 'nobody@example.test', 'bob'].map((name) => ({ ip: '127.0.0.1', name }))
    expect(asked).toEqual(expected)
    expect(failed).toEqual(expected)
    expect(JSON.stringify(asked)).not.toContain('wrong')
    expect(host.logs).toEqual([])
  })

  it('answers 429 to a known and an unknown name alike', async () => {
    const { guess } = await setUp()
    const answers = []
    for (const name of ['admin', 'nobody']) {
      for (let guesses = 0; guesses < 5; guesses++) await guess(name)
      const { status, text } = await guess(name)
      answers.push([status, text])
    }
    expect(answers[0]).toEqual(answers[1])
  })

  it('counts neither right passwords nor calls with cookie and nonce, nor headers that are no credentials', async () => {
    const { host, asked, failed } = await setUp()
    const headers = await host.scriptOf('admin')
    for (let call = 0; call < 8; call++) expect((await host.call('GET', SETTINGS, { headers })).status).toBe(200)
    expect([asked.length, failed.length]).toEqual([0, 0])
    const admin = await host.signIn('admin')
    expect((await host.call('GET', SETTINGS, { headers: admin.headers })).status).toBe(200)
    for (const authorization of ['Basic', 'Bearer x', 'Basic !!']) {
      expect((await host.call('GET', SETTINGS, { headers: { authorization } })).status).toBe(401)
    }
    expect(asked).toEqual([])
  })

  it('believes no forged address: without trust proxy, X-Forwarded-For changes nothing', async () => {
    const { host, asked } = await setUp()
    for (let guesses = 0; guesses < 6; guesses++) {
      const headers = {
        ...basic('admin', 'wrong'),
        'x-forwarded-for': `192.0.2.${guesses}`,
        forwarded: 'for=192.0.2.9',
      }
      const { status } = await host.call('GET', SETTINGS, { headers })
      expect(status).toBe(guesses < 5 ? 401 : 429)
    }
    expect(new Set(asked.map(({ ip }) => ip))).toEqual(new Set(['127.0.0.1']))
  })

  it('fails closed when the rate limiter itself fails', async () => {
    const host = await startRestHost({
      attempts: { allow: () => Promise.reject(new Error('limiter down')), failed: () => {} },
    })
    onTestFinished(() => host.close())
    const answer = await host.call('GET', SETTINGS, { headers: basic('admin', 'wrong') })
    expect([answer.status, answer.json.code]).toEqual([500, 'rest_internal_error'])
  })

  it.each([1, 'yes', {}, [], undefined, null])(
    'goes on only where the rate limiter answers true: %j is a no, and is warned of once',
    async (answered) => {
      const host = await startRestHost({ attempts: { allow: () => answered as never, failed: () => {} } })
      onTestFinished(() => host.close())
      for (let guesses = 0; guesses < 2; guesses++) {
        expect((await host.call('GET', SETTINGS, { headers: basic('admin', 'wrong') })).status).toBe(429)
      }
      expect(host.logs).toEqual([[expect.stringMatching(/^host\.attempts\.allow\(\) returned .*which counts as no/)]])
    },
  )
})
