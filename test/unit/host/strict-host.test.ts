import { describe, expect, it } from 'vitest'
import { boundedHost, strictHost } from '../../../src/host/strict-host.ts'
import type { Host } from '../../../src/index.ts'
import { aWarning } from '../../support/a-warning.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

function start(answers: unknown[]) {
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error() {} }
  const answer = () => answers.shift() as boolean
  const host = { ...restHostOf(createRestUsers()), can: answer, attempts: { allow: answer, failed() {} } } as Host
  return { host: strictHost(host, logger), warnings }
}

const attempt = { ip: null, name: 'admin' }

describe('rule 50: what the application answers', () => {
  it('is a yes only when it is exactly true', async () => {
    const values = [true, Promise.resolve(true), false, Promise.resolve(false), 1, 'yes', [], {}, null, undefined]
    const { host } = start([...values, ...values])
    const expected = values.map((_, index) => index < 2)
    for (const yes of expected) expect(await host.can({}, 'manage_options')).toBe(yes)
    for (const yes of expected) expect(await host.attempts?.allow(attempt)).toBe(yes)
  })

  it('is warned of once, with the cure, when it is neither true nor false', async () => {
    const { host, warnings } = start([true, false, [], { id: 1 }, undefined, 'yes', 1])
    for (let times = 0; times < 5; times++) await host.can({}, 'manage_options')
    for (let times = 0; times < 2; times++) await host.attempts?.allow(attempt)
    const message =
      /^host\.can\(\) returned an array, which counts as no\. Return a boolean, such as Boolean\(user\.isAdmin\)/
    expect(warnings).toEqual([aWarning('rest-routes-refuse-users', message)])
  })
})

it('functions of a host keep the object that they belong to', async () => {
  const users = {
    all: [{ id: 1, login: 'a' }],
    findById(id: number) {
      return this.all.find((user) => user.id === id)
    },
    findByEmail() {
      return this.all[0]
    },
    findByLogin() {
      return this.all[0]
    },
    summary({ id, login }: { id: number; login: string }) {
      return { id, login, display_name: String(this.all.length) }
    },
    search() {
      return this.all
    },
  }
  const attempts = {
    failures: 0,
    allow() {
      return this.failures === 0
    },
    failed() {
      this.failures += 1
    },
  }
  const given = { users, attempts, can: () => true } as unknown as Host
  const host = boundedHost(given, 1000, { warn() {}, error() {} })
  const [user] = users.all
  const { findById, findByEmail, findByLogin, summary, search } = host.users
  expect([await findById(1), await findByEmail(''), await findByLogin('')]).toEqual([user, user, user])
  expect([summary(user), search?.('a', 5)]).toEqual([{ id: 1, login: 'a', display_name: '1' }, [user]])
  const { allow, failed } = host.attempts ?? {}
  expect(await allow?.(attempt)).toBe(true)
  await failed?.(attempt)
  expect(await allow?.(attempt)).toBe(false)
})
