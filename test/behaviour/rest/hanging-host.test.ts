import { describe, expect, it } from 'vitest'
import type { Host } from '../../../src/index.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { basic } from '../../support/rest-client.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

const DEADLINE_MS = 250
const given = restHostOf(createRestUsers())
/** The functions that never answer. */
const hanging = new Set<string>()
const answer = <T>(name: string, now: () => T) => (hanging.has(name) ? new Promise<never>(() => {}) : now())
const host = forThisFile(() =>
  startRestHost({
    sessmgr: { deadlineMs: DEADLINE_MS },
    host: {
      users: {
        ...given.users,
        findById: (id) => answer('findById', () => given.users.findById(id)),
        findByEmail: (email) => answer('findByEmail', () => given.users.findByEmail(email)),
        findByLogin: (login) => answer('findByLogin', () => given.users.findByLogin(login)),
      },
      can: (user, capability) => answer('can', () => given.can(user as never, capability)),
      attempts: { allow: () => answer('allow', () => true), failed: () => answer('failed', () => {}) },
    } as Host,
  }),
)
const admin = forThisFile(() => host.signIn('admin'))
const script = forThisFile(() => host.scriptOf('admin'))

async function whileHanging<T>(name: string, work: () => Promise<T>): Promise<T> {
  hanging.add(name)
  try {
    return await work()
  } finally {
    hanging.delete(name)
  }
}

describe('an application that does not answer', () => {
  it.each([
    ['a caller with a cookie', 'findById', () => admin.headers, { id: 2 }],
    ['the permission of a caller', 'can', () => admin.headers, { id: 2 }],
    ['a caller with an application password', 'findByLogin', () => script, { id: 2 }],
    ['a user named by their id', 'findById', () => script, { id: 2 }],
    ['a user named by their login name', 'findByLogin', () => admin.headers, { login: 'alice' }],
    ['a user named by their email address', 'findByEmail', () => admin.headers, { email: 'alice@example.test' }],
  ])('about %s makes a call end with 503, and nothing changes', async (_, name, headersOf, user) => {
    await host.signIn('alice')
    const headers = { ...headersOf() }
    const answers = await whileHanging(name, () =>
      Promise.all([
        host.call('POST', '/sessmgr/v1/sessions/destroy', { headers, json: user }),
        host.call('GET', `/sessmgr/v1/sessions?${new URLSearchParams(user as object as Record<string, string>)}`, {
          headers,
        }),
      ]),
    )
    for (const { status, headers, json } of answers) {
      expect([status, headers['retry-after'], json.code]).toEqual([503, '2', 'store_unavailable'])
      expect(json.message).toContain(`${name}() did not respond within ${DEADLINE_MS} ms. Try again shortly.`)
      expect(headers['set-cookie']).toBeUndefined()
    }
    expect(await host.limiter.sessions.count(2)).toBeGreaterThan(0)
    const { status } = await host.call('GET', '/sessmgr/v1/settings', { headers })
    expect(status).toBe(200)
  })

  it.each(['allow', 'failed'])(
    'by attempts.%s makes a wrong password end with 503, and the right one works',
    async (name) => {
      const before = await host.snapshot()
      const guess = (headers: object) => host.call('GET', '/sessmgr/v1/settings', { headers: { ...headers } })
      const [right, ...wrong] = await whileHanging(name, () =>
        Promise.all([script, basic('admin', 'wrong'), basic('nobody', 'wrong')].map(guess)),
      )
      expect(right?.status).toBe(200)
      for (const { status, headers, json } of wrong) {
        expect([status, headers['retry-after'], json.code]).toEqual([503, '2', 'store_unavailable'])
        expect(json.message).toContain(`host.attempts.${name}() did not respond within ${DEADLINE_MS} ms.`)
      }
      expect(await host.snapshot()).toEqual(before)
      expect((await guess(basic('admin', 'wrong'))).status).toBe(401)
    },
  )
})
