import type { HostSessionData } from './host-types.ts'

/** Key of the marker in the session data, as stored. */
export const MARKER_KEY = 'sessmgr'

/**
 * Key of the marker in a session of a framework that hides it from the application. Copies of the session made with
 * spread or `Object.assign` still contain it. JSON, `Object.keys` and `for…in` do not.
 */
const HIDDEN_MARKER: unique symbol = Symbol.for('sessmgr.marker')

/** A session that may hide its marker. */
type Hiding = HostSessionData & { [HIDDEN_MARKER]?: unknown }

/** Returns whatever a session has in the place of its marker. */
export function markIn(data: Hiding): unknown {
  return data[HIDDEN_MARKER] ?? data[MARKER_KEY]
}

/** Returns the marker that a session hides, if it does. */
export function hiddenIn(data: Hiding): unknown {
  return data[HIDDEN_MARKER]
}

/** Puts a marker into a session, in place of any other. */
export function putMarker(data: Hiding, marker: unknown, isHidden = false): void {
  if (isHidden) {
    data[HIDDEN_MARKER] = marker
    if (MARKER_KEY in data) delete data[MARKER_KEY]
  } else {
    dropHidden(data)
    data[MARKER_KEY] = marker
  }
}

/** Hides the marker that a session shows, if it does. */
export function hideMarker(data: Hiding): void {
  if (data[MARKER_KEY] !== undefined) putMarker(data, data[MARKER_KEY], true)
}

/** Copies a hidden marker into another session. Frameworks copy only what `for…in` finds. */
export function carryMarker(from: Hiding, to: Hiding): void {
  const marker = hiddenIn(from)
  if (marker !== undefined) putMarker(to, marker, true)
}

/** Removes the marker that a session hides, if it does. */
export function dropHidden(data: Hiding): void {
  if (HIDDEN_MARKER in data) delete data[HIDDEN_MARKER]
}

/**
 * Returns a session as its store receives it. If it hides its marker, this is a copy that shows it, and like the session
 * of express-session, refers to its request.
 */
export function storable(data: Hiding): HostSessionData {
  const marker = data[HIDDEN_MARKER]
  if (marker === undefined) return data
  const { req, id } = data
  const copy: HostSessionData = Object.assign(Object.create(Object.getPrototypeOf(data)), data)
  putMarker(copy, marker)
  if (req !== undefined && !Object.hasOwn(copy, 'req')) Object.defineProperty(copy, 'req', { value: req })
  if (id !== undefined && !Object.hasOwn(copy, 'id')) Object.defineProperty(copy, 'id', { value: id })
  return copy
}
