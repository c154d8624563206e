import type { SessionRegistry } from '../sessions/session-registry.ts'
import type { SessmgrStore } from '../stores/store.ts'
import { traceStoreCall } from './channels.ts'

const OPERATIONS = ['read', 'commit', 'adopt', 'touch', 'restamp', 'end', 'endOthers'] as const

/** Returns a store's registry with its calls published, except the one of each request, whose check has a channel. */
export function tracedSessions({ sessions, name = 'custom' }: SessmgrStore): SessionRegistry {
  const traced = OPERATIONS.map((operation) => {
    const call = (...args: unknown[]) =>
      traceStoreCall(operation, name, () => Reflect.apply(sessions[operation], sessions, args))
    return [operation, call]
  })
  return { ...Object.fromEntries(traced), generationOf: (userId, token) => sessions.generationOf(userId, token) }
}
