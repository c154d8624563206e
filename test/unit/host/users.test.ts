import { describe, expect, it } from 'vitest'
import { createFindSignedIn, resolveUsers } from '../../../src/host/users.ts'
import type { HostUsers } from '../../../src/index.ts'
import { aWarning } from '../../support/a-warning.ts'
import { restHostOf } from '../../support/rest-users.ts'

interface Person {
  readonly id: string | number
  readonly login: string
  readonly email: string
}

const PEOPLE: readonly Person[] = [
  { id: 1, login: 'admin', email: 'admin@example.test' },
  { id: 2, login: 'alice', email: 'alice@example.test' },
  { id: 3, login: 'Bob', email: 'Bob@Example.test' },
  // A login made of another user's digits, and one that reads like an e-mail address of another.
  { id: 4, login: '2', email: 'digits@example.test' },
  { id: 5, login: 'admin@example.test', email: 'five@example.test' },
  { id: 'u-77', login: 'texter', email: 'text@example.test' },
  { id: '5f3c9a', login: 'hex', email: 'hex@example.test' },
]

/** Finds as applications do: carelessly with ids, and by login and e-mail without case. */
function usersWith(numberOf: (id: string) => number = Number) {
  const asked: string[] = []
  const find = (by: string, test: (person: Person) => boolean) => {
    asked.push(by)
    return PEOPLE.find(test)
  }
  const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
  const users: HostUsers<Person> = {
    findById: (id) => find(`id ${id}`, (person) => same(String(person.id), id) || person.id === numberOf(id)),
    findByEmail: async (email) => find(`email ${email}`, (person) => same(person.email, email)),
    findByLogin: async (login) => find(`login ${login}`, (person) => same(person.login, login)),
    summary: ({ id, login }) => ({ id, login, display_name: login }),
  }
  return { users, asked }
}

const found = async (identifier: string) => (await resolveUsers(usersWith().users, identifier))[0]?.id

describe('rule 23: an identifier', () => {
  it('that is none, or only looks like one, names nobody, and for a blank nobody is asked', async () => {
    const { users, asked } = usersWith()
    for (const blank of ['', ' ', '\t\n']) expect(await resolveUsers(users, blank)).toEqual([])
    expect(asked).toEqual([])
    const unknown = ['99', 'nobody', 'nobody@example.test', 'al ice', '@', 'alice@', '@example.test', '-1', '1.5']
    const alike = ['\u0430lice', '\uff41lice', 'alice\u200b', '\u202ealice', 'ecila\u202e', 'al\u0131ce', 'alice\0']
    for (const identifier of [...unknown, ...alike]) {
      expect(await found(identifier), JSON.stringify(identifier)).toBeUndefined()
    }
  })

  it('is no other spelling of an id, however carelessly the application makes a number of it', async () => {
    const spellings = ['0x1', '1e0', '1.0', '+1', '0b1', '01', '-0x1', '1_', '\uff11', '\u0662', '9007199254740993']
    for (const numberOf of [Number, Number.parseInt, Number.parseFloat]) {
      for (const spelling of spellings) {
        expect(await resolveUsers(usersWith(numberOf).users, spelling), spelling).toEqual([])
      }
    }
  })

  it('made of digits is asked for as a number too, where the application compares numbers', async () => {
    const asked: unknown[] = []
    const { users } = usersWith()
    const numeric = {
      ...users,
      findById: (id: unknown) => {
        asked.push(id)
        return PEOPLE.find((person) => person.id === id)
      },
    }
    expect((await resolveUsers(numeric, '2')).map(({ id }) => id)).toEqual([2])
    expect(asked).toEqual(['2', 2])
    expect(await resolveUsers(numeric, '9007199254740993')).toEqual([])
  })
})

function start(findById: (id: unknown) => unknown) {
  const asked: unknown[] = []
  const warnings: string[] = []
  const noting = (id: unknown) => {
    asked.push(id)
    return findById(id) as never
  }
  const users = { ...restHostOf([]).users, findById: noting }
  const find = createFindSignedIn(users, { warn: (message) => void warnings.push(message), error() {} })
  return { find, asked, warnings }
}

const ADA = { id: 1 }

describe('rule 50: findById of a signed-in user', () => {
  it('gets the id in the type of the session', async () => {
    const { find, asked, warnings } = start((id) => (id === 1 || id === 'u-1' ? ADA : undefined))
    expect([await find(1), await find('u-1')]).toEqual([ADA, ADA])
    expect([asked, warnings]).toEqual([[1, 'u-1'], []])
  })

  it('gets a number as a string too, for applications that compare strings', async () => {
    const { find, asked, warnings } = start((id) => (id === '1' ? ADA : null))
    expect(await find(1)).toBe(ADA)
    expect([asked, warnings]).toEqual([[1, '1'], []])
  })

  it('is warned of once, with the cure, when it finds nobody', async () => {
    const { find, warnings } = start(() => undefined)
    expect([await find('1'), await find('2'), await find(3)]).toEqual([undefined, undefined, undefined])
    expect(warnings).toEqual([
      aWarning('rest-routes-refuse-users', /It received a string of digits\. .*users\.get\(Number\(id\)\)/),
    ])
    const named = start(() => undefined)
    await named.find('u1')
    expect(named.warnings).toEqual([aWarning('rest-routes-refuse-users', /received a string\. Compare it/)])
    const other = start(() => undefined)
    await other.find(3)
    const deleted = /the id as a number, and then as a string\. .*call limiter\.eraseUser\(id\)/
    expect(other.warnings).toEqual([aWarning('rest-routes-refuse-users', deleted)])
  })
})
