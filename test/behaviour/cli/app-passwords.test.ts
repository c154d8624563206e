import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
beforeEach(async () => {
  for (const { id } of await world.host.limiter.passwords.list(1)) await world.host.limiter.passwords.revoke(1, id)
})
afterAll(() => world.close())

const passwords = () => world.host.limiter.passwords

describe('rule 28: sessmgr app-passwords create', () => {
  it('shows the password once, on a line of its own, and stores its hash alone', async () => {
    const { code, out, err } = await world.run('app-passwords', 'create', 'admin', '--name', ' backup job ')
    expect([code, err]).toEqual([0, ''])
    const [said, password = '', ...rest] = out.split('\n')
    expect(rest).toEqual([''])
    expect(password).toMatch(/^([A-Za-z0-9]{4} ){5}[A-Za-z0-9]{4}$/)
    const [kept] = await passwords().list(1)
    expect(said).toBe(
      `Created the application password "backup job" for admin with the id ${kept?.id}. It will not be shown again:`,
    )
    expect(kept?.name).toBe('backup job')
    expect(await passwords().verify(1, password)).toBe(true)
    const everything = String(await world.client.get('sessmgr:p:1'))
    expect(everything).toContain('backup job')
    for (const secret of [password, password.replaceAll(' ', '')]) expect(everything).not.toContain(secret)
  })

  it.each([['admin'], ['admin', '--name'], ['admin', '--name='], ['admin', '--name', ' '], ['--name', 'x']])(
    '%s %s without a name or a user is wrong usage: 2, and creates nothing',
    async (...args) => {
      const { code, out } = await world.run('app-passwords', 'create', ...args)
      expect([code, out]).toEqual([2, ''])
      expect(await passwords().list(1)).toEqual([])
    },
  )

  it('knows no user who does not exist: 1', async () => {
    const { code, err } = await world.run('app-passwords', 'create', 'nobody', '--name', 'x')
    expect([code, err]).toEqual([1, 'There is no user "nobody".\n'])
  })
})

describe('rule 28: sessmgr app-passwords list', () => {
  it('lists id, time and name, oldest first, and no password', async () => {
    expect((await world.run('app-passwords', 'list', 'admin')).out).toBe('admin has no application passwords.\n')
    const one = await passwords().create(1, 'one')
    // Two of the same millisecond have no order.
    while (Date.now() === one.createdAt) await nextTurn()
    const two = await passwords().create(1, 'two, "quoted"')
    await passwords().create(2, 'of alice')
    const { code, out } = await world.run('app-passwords', 'list', '1')
    expect(code).toBe(0)
    const [head, first, second, ...rest] = out.split('\n')
    expect([head?.split(/ +/), rest]).toEqual([['ID', 'CREATED', 'NAME'], ['']])
    expect([first, second]).toEqual([
      `${one.id}  ${new Date(one.createdAt).toISOString()}  one`,
      `${two.id}  ${new Date(two.createdAt).toISOString()}  two, "quoted"`,
    ])
    const json = (await world.run('app-passwords', 'list', 'admin', '--format', 'json')).out
    expect(JSON.parse(json).map(({ id, name }: { id: string; name: string }) => [id, name])).toEqual([
      [one.id, 'one'],
      [two.id, 'two, "quoted"'],
    ])
    const csv = (await world.run('app-passwords', 'list', 'admin', '--format', 'csv')).out.split('\n')
    expect(csv[2]).toBe(`${two.id},${new Date(two.createdAt).toISOString()},"two, ""quoted"""`)
    expect((await world.run('app-passwords', 'list', 'admin', '--format', 'ids')).out).toBe(`${one.id} ${two.id}\n`)
    for (const secret of [one.password, two.password]) expect(out + json).not.toContain(secret)
  })
})

describe('rule 28: sessmgr app-passwords revoke', () => {
  it('revokes one at once, and leaves the others', async () => {
    const [one, two] = [await passwords().create(1, 'one'), await passwords().create(1, 'two')]
    const done = await world.run('app-passwords', 'revoke', 'admin', one.id, '--yes')
    expect(done).toEqual({ code: 0, out: 'Revoked.\n', err: '' })
    expect(await passwords().verify(1, one.password)).toBe(false)
    expect(await passwords().verify(1, two.password)).toBe(true)
    const again = await world.run('app-passwords', 'revoke', 'admin', one.id, '--yes')
    expect([again.code, again.err]).toEqual([1, 'admin has no application password with this id.\n'])
  })

  it('does not revoke that of another user, and asks first', async () => {
    const one = await passwords().create(1, 'one')
    expect((await world.run('app-passwords', 'revoke', 'alice', one.id, '--yes')).code).toBe(1)
    const { code, err } = await world.run('app-passwords', 'revoke', 'admin', one.id)
    expect([code, err]).toEqual([
      1,
      'Revoke this application password of admin? Nothing was changed, because this is not a terminal. Pass --yes to confirm.\n',
    ])
    expect(await passwords().verify(1, one.password)).toBe(true)
  })
})
