import assert from 'node:assert/strict'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { registerCase } from '../../../src/testing/register-case.ts'
import { eraseContract, peopleContract, signalsContract } from './people-contract.ts'
import { endAllContract, registryContract } from './registry-contract.ts'
import { rotationContract } from './rotation-contract.ts'
import { endedMemoryContract, sessionLifeContract, unusedSessionContract } from './session-life-contract.ts'
import { idsOf, login, newSession, type StoreCase, type StoreUnderTest } from './store-case.ts'
import { epochContract, optionContract, passwordContract, transientContract } from './values-contract.ts'

/** Options of registerStoreContract(). */
export interface StoreContractOptions {
  /** `describe` of your test runner. */
  describe(name: string, body: () => void): unknown
  /** `it` of your test runner. */
  it(name: string, body: () => Promise<void>): unknown
  /** Creates an empty store. Called once per case. */
  create(): Promise<StoreUnderTest>
  /** Skips the cases that take minutes, for stores whose clock cannot be moved. @default false */
  realTime?: boolean | undefined
}

/**
 * Registers the cases that every store must pass. Works with any test runner that has `describe` and `it`.
 *
 * @example
 * registerStoreContract({ describe, it, create: async () => myStoreUnderTest() })
 */
export function registerStoreContract({ describe, it, create, realTime = false }: StoreContractOptions): void {
  const groups = {
    'session registry': [...registryContract, ...sessionLifeContract, ...endAllContract],
    'logins that end unused sessions': unusedSessionContract,
    'memory of ended sessions': endedMemoryContract,
    'refresh tokens': rotationContract,
    'logout epoch': epochContract,
    options: optionContract,
    'application passwords': passwordContract,
    transients: transientContract,
    erasure: eraseContract,
    'index of people': peopleContract,
    signals: signalsContract,
    wipe: wipeContract,
  }
  for (const [group, cases] of Object.entries(groups)) {
    describe(group, () => {
      for (const [name, body, lasts] of cases) {
        if (realTime && lasts === 'minutes') continue
        registerCase(it, create, name, body)
      }
    })
  }
}

/** The cases about wiping a store. */
const wipeContract: readonly StoreCase[] = [
  [
    'forgets every session, live or ended, and every site-wide logout',
    async ({ store, another }) => {
      const other = await another()
      await login(store.sessions, 1, 'live')
      await login(other.sessions, 'ä', 'ended')
      await store.sessions.end('ä')
      await store.epoch.advance()
      await other.wipe()
      assert.deepEqual(await idsOf(store.sessions, 1), [])
      assert.equal(await store.sessions.useOf(1, tokenOf('live')), undefined)
      assert.ok(await store.sessions.adopt('ä', newSession('ended')), 'the ended session is still remembered')
      assert.equal((await store.epoch.current()).generation, 0)
    },
  ],
  [
    'forgets every option, application password and transient',
    async ({ store, another }) => {
      const other = await another()
      await store.options.set('one', 1)
      await other.options.set('two', 2)
      await store.passwords.add(1, { id: 'a', name: 'a', hash: 'ab'.repeat(32), createdAt: 1 })
      await store.transients.set('text', 'kept', 60_000)
      await store.transients.advance('group')
      await other.wipe()
      assert.equal(await store.options.get('one'), undefined)
      assert.equal(await store.options.get('two'), undefined)
      assert.deepEqual(await store.passwords.list(1), [])
      assert.equal(await store.transients.get('text'), undefined)
      assert.equal(await store.transients.generation('group'), 0)
    },
  ],
  [
    'continues to work as an empty store',
    async ({ store }) => {
      await store.wipe()
      await login(store.sessions, 1, 'a')
      await store.options.set('thing', 1)
      await store.wipe()
      await login(store.sessions, 1, 'b')
      assert.deepEqual(await idsOf(store.sessions, 1), ['b'])
      assert.equal(await store.options.swap('thing', undefined, 2), true)
      assert.ok((await store.epoch.advance())?.generation)
    },
  ],
]
