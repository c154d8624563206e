import { hiddenIn, MARKER_KEY, markIn, putMarker } from '../../guard/marker-place.ts'
import type { FastifySession } from './fastify-types.ts'

/** Key of what the store has of a session's marker. */
const STORED = Symbol('sessmgr.stored')

interface StoredMarker {
  marker: unknown
  /** Whether @fastify/session saw the marker when it last noted what the store has. */
  wasSeen: boolean
}

type Watched = FastifySession & { [STORED]?: StoredMarker }

/**
 * Lets a session count as modified until the store has its marker. @fastify/session itself does not see a hidden marker.
 * Call this before the marker is hidden or replaced.
 */
export function watchMarker(session: FastifySession): void {
  const stored: StoredMarker = { marker: markIn(session), wasSeen: Object.hasOwn(session, MARKER_KEY) }
  const properties = { [STORED]: stored, isModified: () => isModified(session, stored) }
  for (const name of Reflect.ownKeys(properties) as (keyof typeof properties)[]) {
    Object.defineProperty(session, name, { value: properties[name], configurable: true, writable: true })
  }
}

/** Records that a session was written. */
export function noteStored(session: object): void {
  const stored = (session as Watched)[STORED]
  if (stored) Object.assign(stored, { marker: markIn(session as Watched), wasSeen: false })
}

function isModified(session: Watched, { marker, wasSeen }: StoredMarker): boolean {
  const hidden = hiddenIn(session)
  const own = () => (Object.getPrototypeOf(session) as FastifySession).isModified.call(session)
  if (hidden !== undefined && hidden !== marker) return true
  if (hidden === undefined || !wasSeen || Object.hasOwn(session, MARKER_KEY)) return own()
  putMarker(session, hidden)
  try {
    return own()
  } finally {
    putMarker(session, hidden, true)
  }
}
