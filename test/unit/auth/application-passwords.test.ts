import { createHash } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { createApplicationPasswords } from '../../../src/auth/application-passwords.ts'
import { Erasures } from '../../../src/auth/erasures.ts'
import { memoryStore, SessmgrError } from '../../../src/index.ts'
import type { TransientStore } from '../../../src/options/transient-store.ts'
import { fakeClock } from '../../../src/testing.ts'

function setUp() {
  const clock = fakeClock(1_700_000_000_000)
  const { passwords: store } = memoryStore()
  return { clock, store, passwords: createApplicationPasswords({ store, clock }) }
}

describe('rule 27: an application password', () => {
  it('is shown once: what is kept and listed has no trace of it but a SHA-256', async () => {
    const { passwords, store, clock } = setUp()
    const { password, ...info } = await passwords.create(1, 'backup job')
    const plain = password.replaceAll(' ', '')
    expect(info).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'backup job', createdAt: clock.now() })
    expect(await passwords.list(1)).toEqual([info])
    const hash = createHash('sha256').update(plain).digest('hex')
    const kept = await store.list(1)
    expect(kept).toEqual([{ ...info, hash }])
    for (const seen of [kept, await passwords.list(1)]) {
      expect(JSON.stringify(seen)).not.toContain(plain)
      expect(JSON.stringify(seen)).not.toContain(password)
    }
    expect(JSON.stringify(await passwords.list(1))).not.toContain(hash)
  })

  it('is refused in any other spelling, in part, and for anybody else', async () => {
    const { passwords } = setUp()
    const { password } = await passwords.create(1, 'script')
    const plain = password.replaceAll(' ', '')
    const swapped = plain.replace(/[a-z]/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    const prefixes = Array.from({ length: 24 }, (_, length) => plain.slice(0, length))
    for (const bad of [...prefixes, swapped, `${plain}x`, plain + plain, plain.split('').reverse().join('')]) {
      expect(await passwords.verify(1, bad), bad).toBe(false)
    }
    expect(await passwords.verify(2, plain)).toBe(false)
    expect(await passwords.verify(undefined, plain)).toBe(false)
  })

  it('takes no whole user in place of the id', async () => {
    const { passwords } = setUp()
    const user = { id: 1 } as never
    const calls = [passwords.create(user, 'script'), passwords.list(user), passwords.revoke(user, 'id')]
    for (const call of [...calls, passwords.verify(user, 'password')]) {
      await expect(call).rejects.toMatchObject({ code: 'user_id_missing' })
    }
  })

  it('may be given by a deployment that must know it beforehand, with blanks or without', async () => {
    const { passwords } = setUp()
    const { password } = await passwords.create(1, 'seeded', 'abcdefgh ijklmnopqrstuvwx')
    expect(password).toBe('abcd efgh ijkl mnop qrst uvwx')
    expect(await passwords.verify(1, 'abcdefghijklmnopqrstuvwx')).toBe(true)
    const longer = 'A1'.repeat(40)
    await passwords.create(1, 'longer', longer)
    expect(await passwords.verify(1, longer)).toBe(true)
  })

  it('may not be given where it is too short or has other signs: nothing is kept, and it is not told', async () => {
    const { passwords } = setUp()
    const short = ['', ' ', 'abcdefghijklmnopqrstuvw', 'abcd efgh ijkl mnop qrst uvw', 'abcdefghijklmnopqrstuvw!']
    for (const given of [
      ...short,
      'abcdefghijklmnopqrstuvwx\u0000',
      '\u00e4bcdefghijklmnopqrstuvwx',
      null,
      5,
    ] as string[]) {
      const refused = await passwords.create(1, 'seeded', given).catch((error) => error)
      expect(refused).toBeInstanceOf(SessmgrError)
      expect(refused).toMatchObject({ code: 'invalid_option', message: expect.stringContaining('at least 24 letters') })
      if (String(given).length > 4) expect(refused.message).not.toContain(given)
    }
    expect(await passwords.list(1)).toEqual([])
  })

  it('is never one that could not be given, whatever lies in the store', async () => {
    for (const password of ['', 'abcdefghijklmnopqrstuvw', 'abcdefghijklmnopqrstuvw!']) {
      const { passwords, store, clock } = setUp()
      const hash = createHash('sha256').update(password).digest('hex')
      await store.add(1, { id: 'planted', name: 'planted', hash, createdAt: clock.now() })
      for (const given of [password, ` ${password}`]) expect(await passwords.verify(1, given), given).toBe(false)
    }
  })
})

const START = 1_700_000_000_000

function setUpUses(change: Partial<TransientStore> = {}) {
  const clock = fakeClock(START)
  const { passwords: store, transients } = memoryStore()
  const set = vi.spyOn(transients, 'set')
  const cache: TransientStore = Object.assign(transients, change)
  return { clock, set, passwords: createApplicationPasswords({ store, clock, transients: cache }) }
}

describe('the last use of an application password', () => {
  it('is that of this user, although another has the same password', async () => {
    const { passwords } = setUpUses()
    const given = 'the same password of 24 or more'
    await passwords.create(1, 'one', given)
    await passwords.create(2, 'two', given)
    await passwords.verify(2, given)
    expect((await passwords.list(1))[0]).not.toHaveProperty('lastUsedAt')
    expect((await passwords.list(2))[0]).toMatchObject({ lastUsedAt: START })
  })

  it('is written once in five minutes, and neither the password nor its hash is the key', async () => {
    const { clock, set, passwords } = setUpUses()
    const { password } = await passwords.create(1, 'backup')
    for (let call = 0; call < 20; call++) {
      await passwords.verify(1, password)
      clock.advance(1000)
    }
    expect(set.mock.calls).toEqual([[expect.any(String), String(START), 400 * 24 * 60 * 60_000]])
    expect(JSON.stringify(set.mock.calls)).not.toContain(password.replaceAll(' ', ''))
    clock.advance(5 * 60_000)
    await passwords.verify(1, password)
    expect(set).toHaveBeenCalledTimes(2)
  })

  it('keeps nobody waiting and refuses nobody, if the cache hangs or fails', async () => {
    const failing = setUpUses({
      set: () => Promise.reject(new Error('no')),
      get: () => Promise.reject(new Error('no')),
    })
    const one = await failing.passwords.create(1, 'backup')
    expect(await failing.passwords.verify(1, one.password)).toBe(true)
    expect(await failing.passwords.list(1)).toMatchObject([{ name: 'backup' }])
    const hanging = setUpUses({ set: () => new Promise(() => {}) })
    const other = await hanging.passwords.create(1, 'backup')
    expect(await hanging.passwords.verify(1, other.password)).toBe(true)
  })

  it('is unknown where the cache has no time', async () => {
    for (const text of ['0', '-5', '1.5', 'yesterday', '']) {
      const { passwords } = setUpUses({ get: async () => text })
      await passwords.create(1, 'backup')
      expect((await passwords.list(1))[0], text).not.toHaveProperty('lastUsedAt')
    }
  })

  it('is forgotten with the password, whether one or all of them go', async () => {
    const { passwords } = setUpUses()
    const given = 'the same password of 24 or more'
    const goings = [(id: string) => passwords.revoke(1, id), () => passwords.erase(1)]
    for (const go of goings) {
      const { id } = await passwords.create(1, 'backup', given)
      await passwords.create(1, 'other')
      await passwords.verify(1, given)
      await go(id)
      const again = await passwords.create(1, 'again', given)
      expect((await passwords.list(1)).find((one) => one.id === again.id)).not.toHaveProperty('lastUsedAt')
      await passwords.erase(1)
    }
  })
})

describe('changes of application passwords', () => {
  it('need a name, and are told with it once they are made', async () => {
    const { store, clock } = setUp()
    const note = vi.fn()
    const passwords = createApplicationPasswords({ store, clock, note, transients: memoryStore().transients })
    for (const name of ['', ' ', undefined, 5] as never[]) {
      const message = expect.stringContaining("needs a name, such as 'backup script'")
      await expect(passwords.create(1, name)).rejects.toMatchObject({ code: 'invalid_option', message })
    }
    await expect(passwords.verify(1, undefined as never)).rejects.toThrow('needs a password')
    const [kept, gone] = [
      await passwords.create(1, 'kept'),
      await passwords.create(1, 'gone', undefined, { by: 'admin' }),
    ]
    expect(note.mock.calls).toEqual([
      ['application_password.created', { userId: 1, id: kept.id, name: 'kept' }],
      ['application_password.created', { userId: 1, id: gone.id, name: 'gone', by: 'admin' }],
    ])
    await passwords.verify(1, kept.password)
    expect([await passwords.revoke(1, gone.id), await passwords.revoke(1, gone.id)]).toEqual([true, false])
    expect(note.mock.calls.slice(2)).toEqual([
      ['application_password.revoked', { userId: 1, id: gone.id, name: 'gone' }],
    ])
    expect(await passwords.list(1)).toMatchObject([{ id: kept.id, lastUsedAt: clock.now() }])
    expect(await passwords.verify(1, gone.password)).toBe(false)
  })

  it('are made although the list cannot be read', async () => {
    const { store } = setUp()
    const note = vi.fn()
    const passwords = createApplicationPasswords({ store, clock: fakeClock(START), note })
    const { id } = await passwords.create(1, 'backup')
    const list = vi.spyOn(store, 'list').mockRejectedValue(new Error('away'))
    expect(await passwords.revoke(1, id)).toBe(true)
    list.mockRestore()
    expect(await passwords.list(1)).toEqual([])
    expect(note).toHaveBeenLastCalledWith('application_password.revoked', { userId: 1, id, name: undefined })
  })

  it('rule 63: leave no password of a user who is erased meanwhile', async () => {
    const { passwords: store, transients, sessions } = memoryStore()
    const erasures = new Erasures({ transients, sessions })
    const add = store.add.bind(store)
    store.add = async (...given) => {
      await add(...given)
      await erasures.mark([1], START)
    }
    const passwords = createApplicationPasswords({ store, clock: fakeClock(START), erasures })
    await expect(passwords.create(1, 'late')).rejects.toMatchObject({ code: 'session_ended' })
    expect(await store.list(1)).toEqual([])
  })
})
