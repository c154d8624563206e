import { isUserId, type UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/token.ts'
import type { HostSessionData } from '../host-types.ts'

/** Key of the marker in the session data. */
export const MARKER_KEY = 'sessmgr'

/**
 * Says, inside the session data, that this session was registered: an authenticated session with a marker but without
 * a record in the registry is over, one without a marker is from before the service.
 */
export interface SessionMarker {
  readonly userId: UserId
  /** Binds the marker to one session id: data that `keepSessionInfo` merges into another session proves nothing. */
  readonly token: Token
  /** Made with a secret of the site for this user, this session and this registry: nobody else can write a marker. */
  readonly signature: string
}

/** Reads what looks like the marker of a session. Its signature tells whether it is one. */
export function readMarker(data: HostSessionData, token: Token): SessionMarker | undefined {
  const marker = data[MARKER_KEY] as Partial<SessionMarker> | undefined
  if (marker?.token !== token || !isUserId(marker.userId)) return undefined
  return { userId: marker.userId, token, signature: String(marker.signature) }
}

/** Reads which session a marker is for, be it good or not. */
export function tokenIn(data: HostSessionData): Token | undefined {
  const token = (data[MARKER_KEY] as Partial<SessionMarker> | undefined)?.token
  return typeof token === 'string' ? token : undefined
}

/** Finds the very object that marks a session, be it good or not: two sessions never share it. */
export function markerIn(data: HostSessionData): object | undefined {
  const marker = data[MARKER_KEY]
  return typeof marker === 'object' && marker !== null ? marker : undefined
}

/** Puts a marker into session data, over whatever was there. */
export function writeMarker(data: HostSessionData, marker: SessionMarker): void {
  data[MARKER_KEY] = marker
}

/** Writes session data that holds a marker for as long. */
export async function whileMarked(
  data: HostSessionData,
  marker: SessionMarker | undefined,
  write: () => Promise<void>,
): Promise<void> {
  const before = data[MARKER_KEY]
  if (marker) data[MARKER_KEY] = marker
  try {
    await write()
  } finally {
    if (before === undefined) delete data[MARKER_KEY]
    else data[MARKER_KEY] = before
  }
}
