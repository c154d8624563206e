import { useSyncExternalStore } from 'react'
import { rest } from '../screen.ts'
import type { SignedIn } from './rest-client.ts'

/** Tells whether the person at the screen is still signed in. */
export function useSignedIn(): SignedIn {
  return useSyncExternalStore(rest.subscribe, rest.signedIn)
}
