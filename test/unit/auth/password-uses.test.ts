import { describe, expect, it, vi } from 'vitest'
import { createApplicationPasswords } from '../../../src/auth/application-passwords.ts'
import { memoryStore } from '../../../src/index.ts'
import type { TransientStore } from '../../../src/options/transient-store.ts'
import { fakeClock } from '../../../src/testing.ts'

const START = 1_700_000_000_000

function setUp(change: Partial<TransientStore> = {}) {
  const clock = fakeClock(START)
  const { passwords: store, transients } = memoryStore()
  const set = vi.spyOn(transients, 'set')
  const cache: TransientStore = Object.assign(transients, change)
  return { clock, set, passwords: createApplicationPasswords({ store, clock, transients: cache }) }
}

describe('the last use of an application password', () => {
  it('is unknown before the first, and then the time of the last that was right', async () => {
    const { clock, passwords } = setUp()
    const { password, ...info } = await passwords.create(1, 'backup')
    expect(await passwords.list(1)).toEqual([info])
    clock.advance(1000)
    await passwords.verify(1, 'x'.repeat(24))
    await passwords.verify(2, password)
    await passwords.verify(undefined, password)
    expect(await passwords.list(1)).toEqual([info])
    await passwords.verify(1, password)
    expect(await passwords.list(1)).toEqual([{ ...info, lastUsedAt: START + 1000 }])
    clock.advance(5 * 60_000)
    await passwords.verify(1, password)
    expect(await passwords.list(1)).toEqual([{ ...info, lastUsedAt: START + 1000 + 5 * 60_000 }])
  })

  it('is that of this user, although another has the same password', async () => {
    const { passwords } = setUp()
    const given = 'the same password of 24 or more'
    await passwords.create(1, 'one', given)
    await passwords.create(2, 'two', given)
    await passwords.verify(2, given)
    expect((await passwords.list(1))[0]).not.toHaveProperty('lastUsedAt')
    expect((await passwords.list(2))[0]).toMatchObject({ lastUsedAt: START })
  })

  it('is written once in five minutes, and neither the password nor its hash is the key', async () => {
    const { clock, set, passwords } = setUp()
    const { password } = await passwords.create(1, 'backup')
    for (let call = 0; call < 20; call++) await passwords.verify(1, password)
    expect(set).toHaveBeenCalledOnce()
    expect(JSON.stringify(set.mock.calls)).not.toContain(password.replaceAll(' ', ''))
    clock.advance(5 * 60_000)
    await passwords.verify(1, password)
    expect(set).toHaveBeenCalledTimes(2)
  })

  it('keeps nobody waiting and refuses nobody, if the cache hangs or fails', async () => {
    const failing = setUp({ set: () => Promise.reject(new Error('no')), get: () => Promise.reject(new Error('no')) })
    const one = await failing.passwords.create(1, 'backup')
    expect(await failing.passwords.verify(1, one.password)).toBe(true)
    expect(await failing.passwords.list(1)).toMatchObject([{ name: 'backup' }])
    const hanging = setUp({ set: () => new Promise(() => {}) })
    const other = await hanging.passwords.create(1, 'backup')
    expect(await hanging.passwords.verify(1, other.password)).toBe(true)
  })
})
