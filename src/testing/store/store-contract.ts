import { registerCase } from '../register-case.ts'
import { continuedLoginContract } from './continued-login-contract.ts'
import { endedMemoryContract } from './ended-memory-contract.ts'
import { epochContract } from './epoch-contract.ts'
import { optionContract } from './option-contract.ts'
import { peopleContract } from './optional/people-contract.ts'
import { signalsContract } from './optional/signals-contract.ts'
import { passwordContract } from './password-contract.ts'
import { registryContract } from './registry-contract.ts'
import type { StoreUnderTest } from './store-case.ts'
import { transientContract } from './transient-contract.ts'
import { unusedSessionContract } from './unused-session-contract.ts'
import { wipeContract } from './wipe-contract.ts'

/** Options of the suite. */
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
    'session registry': registryContract,
    'logins that continue a session': continuedLoginContract,
    'logins that end unused sessions': unusedSessionContract,
    'memory of ended sessions': endedMemoryContract,
    'logout epoch': epochContract,
    options: optionContract,
    'application passwords': passwordContract,
    transients: transientContract,
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
