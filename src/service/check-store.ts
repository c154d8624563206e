import { invalidOption } from '../ground/invalid-option.ts'
import { requireMethods } from '../ground/option-checks.ts'
import type { SessmgrStore } from '../stores/store.ts'

const PARTS = {
  sessions: ['read', 'generationOf', 'commit', 'adopt', 'touch', 'restamp', 'end', 'endOthers'],
  epoch: ['current', 'advance', 'advanceFrom'],
  options: ['get', 'set', 'swap', 'delete'],
  passwords: ['add', 'list', 'has', 'remove'],
  transients: ['get', 'set', 'generation', 'advance'],
} as const satisfies { [Part in keyof SessmgrStore]?: readonly (keyof SessmgrStore[Part])[] }

/**
 * Checks at startup that a store has all required parts and methods.
 *
 * @throws SessmgrError `invalid_option` that names the missing one.
 */
export function checkStore(store: SessmgrStore | undefined): void {
  if (store === undefined) return
  if (!(store?.sessions && store.epoch && store.options)) {
    throw invalidOption(
      '"store" must be a store from memoryStore(), sqliteStore(), postgresStore(), redisStore() or documentStore(); ' +
        'a session store belongs in "sessionStore"',
    )
  }
  if (typeof store.id !== 'string' || store.id === '') throw invalidOption('"store.id" must be a non-empty string')
  for (const [part, methods] of Object.entries(PARTS)) {
    requireMethods(`store.${part}`, store[part as keyof typeof PARTS], methods)
  }
  if (store.people) requireMethods('store.people', store.people, ['note', 'page', 'count', 'clear'])
  if (store.signals !== undefined) requireMethods('store.signals', store.signals, ['publish', 'subscribe'])
  requireMethods('store', store, ['wipe', 'close'])
}
