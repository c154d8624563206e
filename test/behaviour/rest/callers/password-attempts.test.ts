import { RateLimiterMemory } from 'rate-limiter-flexible'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { PasswordAttempt, PasswordAttempts } from '../../../../src/index.ts'
import { basic } from '../../../support/rest-client.ts'
import { startRestHost } from '../../../support/rest-host.ts'

const SETTINGS = '/sessmgr/v1/settings'

async function start(attempts: PasswordAttempts) {
  const host = await startRestHost({ attempts })
  onTestFinished(() => host.close())
  const get = (headers: Record<string, string>) => host.call('GET', SETTINGS, { headers })
  return { host, get, guess: (name: string, more: object = {}) => get({ ...basic(name, 'wrong'), ...more }) }
}

/** An application whose rate limiter lets five wrong passwords pass, for an address and an account. */
async function setUp() {
  const limiter = new RateLimiterMemory({ points: 5, duration: 60 })
  const keyOf = ({ ip, name }: PasswordAttempt) => `${ip} ${name.toLowerCase()}`
  const asked: PasswordAttempt[] = []
  const failed: PasswordAttempt[] = []
  const started = await start({
    async allow(attempt) {
      asked.push(attempt)
      return ((await limiter.get(keyOf(attempt)))?.remainingPoints ?? 1) > 0
    },
    failed(attempt) {
      failed.push(attempt)
      return limiter.consume(keyOf(attempt)).catch(() => {})
    },
  })
  return { ...started, asked, failed }
}

describe('guessing application passwords', () => {
  it('is answered 429 for any name, whatever X-Forwarded-For says, with a time to come back; right ones pass', async () => {
    const { host, get, guess, asked } = await setUp()
    const headers = await host.scriptOf('admin')
    for (const name of ['admin', 'nobody']) {
      for (let guesses = 0; guesses < 5; guesses++) {
        const forged = { 'x-forwarded-for': `192.0.2.${guesses}`, forwarded: 'for=192.0.2.9' }
        expect((await guess(name, forged)).status).toBe(401)
      }
      const answer = await guess(name)
      expect([answer.status, answer.headers['cache-control']]).toEqual([429, 'no-store'])
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
      const message = 'Too many attempts. Try again in 60 s.'
      expect(answer.json).toEqual({ code: 'too_many_attempts', message, data: { status: 429 } })
    }
    const before = asked.length
    for (const good of [headers, (await host.signIn('admin')).headers]) expect((await get(good)).status).toBe(200)
    expect(asked).toHaveLength(before)
    expect(new Set(asked.map(({ ip }) => ip))).toEqual(new Set(['127.0.0.1']))
  })

  it('is told with address and name as they came, but neither the password nor a name too long for an address', async () => {
    const { host, asked, failed, get, guess } = await setUp()
    const names = ['Admin', 'nobody', 'nobody@example.test', 'bob', 'x'.repeat(320)]
    for (const name of [...names, 'x'.repeat(321), 'ü'.repeat(321), 'x'.repeat(11_000)]) {
      expect((await guess(name)).status, name.slice(0, 20)).toBe(401)
    }
    // Headers that are no credentials are no guesses.
    for (const authorization of ['Bearer x', 'Basic !!']) expect((await get({ authorization })).status).toBe(401)
    const expected = names.map((name) => ({ ip: '127.0.0.1', name }))
    expect([asked, failed]).toEqual([expected, expected])
    expect(host.logs).toEqual([])
  })

  it('goes on only where the rate limiter answers true: all else is a no, and is warned of once', async () => {
    for (const answered of [1, undefined]) {
      const { host, guess } = await start({ allow: () => answered as never, failed: () => {} })
      const statuses = [(await guess('admin')).status, (await guess('admin')).status]
      expect(statuses, String(answered)).toEqual([429, 429])
      expect(host.logs).toEqual([[expect.stringMatching(/^host\.attempts\.allow\(\) returned .*which counts as no/)]])
    }
    const { guess } = await start({ allow: () => Promise.reject(new Error('limiter down')), failed: () => {} })
    const answer = await guess('admin')
    expect([answer.status, answer.json.code]).toEqual([500, 'rest_internal_error'])
  })
})
