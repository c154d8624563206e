import { describe, expect, test } from 'vitest'
import { startRoleLimits } from './role-limits-host.ts'

const PATH = '/wp/v2/settings'
const STORED = { roles: { editor: 3 }, users: { alice: 5 } }

async function start() {
  const host = await startRoleLimits()
  await host.setLimits(STORED)
  const post = (role_limits: unknown, more = {}) => host.rest('POST', PATH, { role_limits, ...more })
  const stored = async () => (await host.rest('GET', PATH)).json<{ role_limits: object }>().role_limits
  return { host, post, stored }
}

describe('the option role_limits at /wp/v2/settings', () => {
  test('is there from the start, without a limit', async () => {
    const host = await startRoleLimits({ license: 'none' })
    expect((await host.rest('GET', PATH)).json()).toMatchObject({ role_limits: { roles: {}, users: {} } })
  })

  test('rule 22: a group that is left out keeps its limits, one that is sent is replaced, and unknown keys are dropped', async () => {
    const { post, stored } = await start()
    const answer = await post({ roles: { subscriber: 2 }, color: 'red' })
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({ role_limits: { roles: { subscriber: 2 }, users: { alice: 5 } } })
    expect(await stored()).toEqual({ roles: { subscriber: 2 }, users: { alice: 5 } })
  })

  test.each([
    [
      'texts of numbers become numbers',
      { users: { alice: '7', bob: ' 2 ' } },
      { ...STORED, users: { alice: 7, bob: 2 } },
    ],
    ['empty limits are none', { users: { alice: '', bob: null, carol: 1 } }, { ...STORED, users: { carol: 1 } }],
    ['names may be any', { roles: { constructor: 2, 'a b': 3 } }, { ...STORED, roles: { constructor: 2, 'a b': 3 } }],
  ])('repairs: %s', async (_what, sent, expected) => {
    const { post, stored } = await start()
    expect((await post(sent)).status).toBe(200)
    expect(await stored()).toEqual(expected)
  })

  test.each([
    ['0', { roles: { editor: 0 } }, 'role_limits.roles.editor', 'must be a whole number, 1 or more'],
    ['a negative one', { users: { bob: -1 } }, 'role_limits.users.bob', 'must be a whole number, 1 or more'],
    ['a fraction', { users: { bob: 1.5 } }, 'role_limits.users.bob', 'must be a whole number, 1 or more'],
    ['words', { users: { bob: 'many' } }, 'role_limits.users.bob', 'must be a whole number, 1 or more'],
    ['beyond all bounds', { users: { bob: 1e300 } }, 'role_limits.users.bob', 'must be a whole number, 1 or more'],
    ['a list of limits', { roles: [3] }, 'role_limits.roles', 'must be an object of limits by name'],
    ['no limits at all', { users: null }, 'role_limits.users', 'must be an object of limits by name'],
    ['a blank name', { roles: { ' editor': 2 } }, 'role_limits.roles. editor', 'is not a valid name'],
    ['one user twice', { users: { bob: 2, Bob: 3 } }, 'role_limits.users.Bob', 'occurs more than once'],
    ['no object', 'all', 'role_limits', 'must be an object'],
  ])('rule 20: refuses %s by name, and writes nothing', async (_what, sent, name, problem) => {
    const { host, post, stored } = await start()
    const answer = await post(sent, { sessmgr_settings: { maximum: 9 } })
    expect(answer.status).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'rest_invalid_param' })
    const { params } = answer.json<{ data: { params: Record<string, string> } }>().data
    expect(params[name]).toContain(problem)
    expect(await stored()).toEqual(STORED)
    expect((await host.limiter.settings.get()).maximum).toBe(1)
  })
})
