import { expect, it } from 'vitest'
import type { Host } from '../../../src/host/host.ts'
import { boundedHost } from '../../../src/host/strict-host.ts'

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

it('functions of a host keep the object that they belong to', async () => {
  const { users, attempts } = boundedHost(
    { users: new Users(), attempts: new Attempts(), can: () => true },
    1000,
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
