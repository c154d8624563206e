import { describe, expect, it } from 'vitest'
import { helpAt } from '../../../src/ground/help.ts'
import { createFindSignedIn } from '../../../src/host/signed-in-user.ts'
import { restHostOf } from '../../support/rest-users.ts'

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
      'host.users.findById() found nobody for a signed-in session, so this user counts as signed out. It received a ' +
        'string. If your ids have another type, convert it: findById: (id) => users.get(Number(id)). ' +
        `See ${helpAt('signed-in-user-not-found')}`,
    ])
    const other = start(() => undefined)
    await other.find(3)
    expect(other.warnings).toEqual([
      'host.users.findById() found nobody for a signed-in session, so this user counts as signed out. It received ' +
        'the id as a number, and then as a string. The user may have been deleted. If you delete users, call ' +
        `limiter.eraseUser(id). See ${helpAt('signed-in-user-not-found')}`,
    ])
  })
})
