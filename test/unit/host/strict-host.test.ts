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

class Users {
  readonly #users = [{ id: 1, email: 'a@example.test', login: 'a' }]
  findById(id: number) {
    return this.#users.find((user) => user.id === id)
  }
  findByEmail(email: string) {
    return this.#users.find((user) => user.email === email)
  }
  findByLogin(login: string) {
    return this.#users.find((user) => user.login === login)
  }
  summary({ id, login }: { id: number; login: string }) {
    return { id, login, display_name: this.#users.length === 1 ? login : '' }
  }
  search(text: string) {
    return this.#users.filter(({ login }) => login.startsWith(text))
  }
}

class Attempts {
  #failures = 0
  allow() {
    return this.#failures === 0
  }
  failed() {
    this.#failures += 1
  }
}

const quiet = { warn() {}, error() {} }

it('functions of a host keep the object that they belong to', async () => {
  const { users, attempts } = boundedHost(
    { users: new Users(), attempts: new Attempts(), can: () => true },
    1000,
    quiet,
  ) as Host
  const user = await users.findById(1)
  expect(user).toMatchObject({ login: 'a' })
  expect([await users.findByEmail('a@example.test'), await users.findByLogin('a')]).toEqual([user, user])
  expect([users.summary(user), users.search?.('a', 5)]).toEqual([{ id: 1, login: 'a', display_name: 'a' }, [user]])
  const attempt = { ip: null, name: 'a' }
  expect(await attempts?.allow(attempt)).toBe(true)
  await attempts?.failed(attempt)
  expect(await attempts?.allow(attempt)).toBe(false)
})
