import { useSyncExternalStore } from 'react'
import { rest } from '../screen.ts'
import type { SignedIn } from './rest-client.ts'

/** Checks whether the user of the screen is still signed in. */
export function useSignedIn(): SignedIn {
  return useSyncExternalStore(rest.subscribe, rest.signedIn)
}
