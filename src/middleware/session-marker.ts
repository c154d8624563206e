import type { Token } from '../sessions/token.ts'
import { isUserId, type UserId } from '../user-id.ts'
import type { HostSessionData } from './host-types.ts'

/** Key of the marker in the session data. */
const KEY = 'sessmgr'

/**
 * Says, inside the session data, that this session was registered: an authenticated session with a marker but without
 * a record in the registry is over, one without a marker is from before the service.
 */
export interface SessionMarker {
  readonly userId: UserId
  /** Binds the marker to one session id: data that `keepSessionInfo` merges into another session proves nothing. */
  readonly token: Token
  /** The store's id: a registry that has lost its memory adopts the sessions again instead of ending them. */
  readonly store: string
}

/** Reads the marker of a session if it belongs to this session and this store. */
export function readMarker(data: HostSessionData, token: Token, store: string): SessionMarker | undefined {
  const marker = data[KEY] as Partial<SessionMarker> | undefined
  if (marker?.token !== token || marker.store !== store || !isUserId(marker.userId)) return undefined
  return { userId: marker.userId, token, store }
}

/** Reads the user of a session that was registered in whatever store: after the loss of that one it can be adopted. */
export function markedUser(data: HostSessionData, token: Token): UserId | undefined {
  const marker = data[KEY] as Partial<SessionMarker> | undefined
  return marker?.token === token && isUserId(marker.userId) ? marker.userId : undefined
}

/** Finds the very object that marks a session, be it good or not: two sessions never share it. */
export function markerIn(data: HostSessionData): object | undefined {
  const marker = data[KEY]
  return typeof marker === 'object' && marker !== null ? marker : undefined
}

/** Puts a marker into session data, over whatever was there. */
export function writeMarker(data: HostSessionData, marker: SessionMarker): void {
  data[KEY] = marker
}

/** Writes session data that holds a marker for as long. */
export async function whileMarked(
  data: HostSessionData,
  marker: SessionMarker,
  write: () => Promise<void>,
): Promise<void> {
  const before = data[KEY]
  data[KEY] = marker
  try {
    await write()
  } finally {
    if (before === undefined) delete data[KEY]
    else data[KEY] = before
  }
}
