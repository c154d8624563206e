import type { SiteSeal, SiteSecrets } from '../auth/site-secrets.ts'
import { BoundedMap } from '../ground/bounded-map.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import { isUserId, type UserId } from '../ground/user-id.ts'
import type { Token } from '../sessions/session-record.ts'
import type { HostSessionData } from './host-types.ts'

const BITS = 192

/**
 * Marks a session as registered, inside its data. A login session with a marker but without a record in the registry
 * has ended. A login session without a marker is from before sessmgr.
 */
export interface SessionMarker {
  readonly userId: UserId
  /** Binds the marker to one session id. A copy in another session, as with `keepSessionInfo`, is invalid. */
  readonly token: Token
  /**
   * When the user logged in with this session, in milliseconds. Undefined if the session was not registered by a login.
   */
  readonly loginAt?: number | undefined
  /** Signature of the user, session, login time and registry, made with a site secret. */
  readonly signature: string
}

/** Returns the marker in a session if its form and token are right, without checking its signature. */
export function readMarker(data: HostSessionData, token: Token): SessionMarker | undefined {
  const marker = markIn(data) as Partial<SessionMarker> | undefined
  if (marker?.token !== token || !isUserId(marker.userId)) return undefined
  const loginAt = typeof marker.loginAt === 'number' ? { loginAt: marker.loginAt } : undefined
  return { userId: marker.userId, token, ...loginAt, signature: String(marker.signature) }
}

/** Returns the marker object in a session, whether valid or not. No two sessions share one. */
export function markerIn(data: HostSessionData): object | undefined {
  const marker = markIn(data)
  return typeof marker === 'object' && marker !== null ? marker : undefined
}

/** Signs the markers of sessions and checks their signatures. Needs the site's seal, which is loaded once. */
export class SessionMarks {
  readonly #siteSecrets: SiteSecrets
  readonly #storeId: string
  /** Copies of valid markers, by token. */
  readonly #good: BoundedMap<Token, SessionMarker>
  /** The seal that the remembered markers belong to. */
  #seal: SiteSeal | undefined

  /** @param capacity How many valid markers to remember. */
  constructor(siteSecrets: SiteSecrets, storeId: string, capacity: number) {
    this.#good = new BoundedMap(capacity)
    this.#siteSecrets = siteSecrets
    this.#storeId = storeId
  }

  /**
   * Waits until markers can be read and written.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async ready(): Promise<void> {
    if (!this.#siteSecrets.known) await this.#siteSecrets.load()
  }

  /** Reloads the seal, and checks whether the registry has changed, for example after `uninstall`. */
  hasChanged(): Promise<boolean> {
    return this.#siteSecrets.refresh()
  }

  /** Returns the marker of a session if this process has already checked or created it with the newest secret. */
  known(data: HostSessionData, token: Token): SessionMarker | undefined {
    if (this.#siteSecrets.known !== this.#seal) this.#currentSeal()
    const good = this.#good.get(token)
    const { [HIDDEN_MARKER]: hidden, [MARKER_KEY]: shown }: Hiding = data
    const found = (hidden ?? shown) as Partial<SessionMarker> | null | undefined
    const isGood = good && good.token === found?.token && good.userId === found.userId
    return isGood && good.signature === found.signature ? good : undefined
  }

  /** Returns the marker of a session if it is signed for this session and this registry. */
  read(data: HostSessionData, token: Token): SessionMarker | undefined {
    return this.known(data, token) ?? (this.#seal && this.#check(readMarker(data, token), this.#seal))
  }

  #check(marker: SessionMarker | undefined, seal: SiteSeal): SessionMarker | undefined {
    if (!marker) return undefined
    const given = Buffer.from(marker.signature, 'base64url')
    const signedBy = seal.secrets.findIndex((secret) => {
      const expected = this.#sign(secret, seal, marker)
      return given.length === expected.length && nodeCrypto().timingSafeEqual(given, expected)
    })
    if (signedBy < 0) return undefined
    if (signedBy === 0) this.#good.set(marker.token, { ...marker })
    return marker
  }

  /**
   * Checks whether a valid marker is signed with the newest secret. An older marker becomes invalid once its secret is
   * removed.
   */
  isNewest({ token, signature }: SessionMarker): boolean {
    return this.#good.get(token)?.signature === signature
  }

  /** Returns the marker of the session that this data was copied from, if the marker is valid and names the user. */
  copiedFrom(data: HostSessionData, userId: UserId): SessionMarker | undefined {
    const { token } = (markerIn(data) ?? {}) as Partial<SessionMarker>
    const marker = typeof token === 'string' ? this.read(data, token) : undefined
    return marker && String(marker.userId) === String(userId) ? marker : undefined
  }

  /**
   * Creates a marker. Returns undefined if the store has just been wiped. `loginAt` is the time of the login, if there
   * was one.
   */
  seal(userId: UserId, token: Token, loginAt?: number): SessionMarker | undefined {
    const seal = this.#currentSeal()
    if (!seal) return undefined
    const good = this.#good.get(token)
    if (good?.userId === userId && (loginAt === undefined || loginAt === good.loginAt)) return { ...good }
    const content = { userId, token, ...(loginAt !== undefined && { loginAt }) }
    const marker = { ...content, signature: this.#sign(seal.secrets[0], seal, content).toString('base64url') }
    // A copy, so that changes by the application do not affect it.
    this.#good.set(token, { ...marker })
    return marker
  }

  /** Forgets the markers of a user. */
  forget(userId: UserId): void {
    for (const [token, good] of this.#good) if (String(good.userId) === String(userId)) this.#good.delete(token)
  }

  #sign(secret: string, { registry }: SiteSeal, marker: Omit<SessionMarker, 'signature'>): Buffer {
    const { userId, token, loginAt } = marker
    // With JSON, different markers cannot produce the same message. The first word distinguishes this message from that
    // of a nonce.
    const content = ['session', token, userId, this.#storeId, registry]
    const message = JSON.stringify(loginAt === undefined ? content : [...content, loginAt])
    return nodeCrypto()
      .createHmac('sha256', secret)
      .update(message)
      .digest()
      .subarray(0, BITS / 8)
  }

  #currentSeal(): SiteSeal | undefined {
    const { known } = this.#siteSecrets
    if (known !== this.#seal) this.#good.clear()
    this.#seal = known
    return known
  }
}

/** Key of the marker in the session data, as stored. */
export const MARKER_KEY = 'sessmgr'

/**
 * Key of a marker that is hidden from the application. Spread and `Object.assign` copy it; JSON, `Object.keys` and
 * `for…in` skip it.
 */
export const HIDDEN_MARKER: unique symbol = Symbol.for('sessmgr.marker')

/** A session that may hide its marker. */
export type Hiding = HostSessionData & { [HIDDEN_MARKER]?: unknown }

/** Returns the marker of a session, hidden or not, without any check. */
export function markIn(data: Hiding): unknown {
  return data[HIDDEN_MARKER] ?? data[MARKER_KEY]
}

/** Returns the hidden marker of a session, if it has one. */
export function hiddenIn(data: Hiding): unknown {
  return data[HIDDEN_MARKER]
}

/** Puts a marker into a session, replacing any other. */
export function putMarker(data: Hiding, marker: unknown, isHidden = false): void {
  if (isHidden) {
    data[HIDDEN_MARKER] = marker
    if (MARKER_KEY in data) delete data[MARKER_KEY]
  } else {
    dropHidden(data)
    data[MARKER_KEY] = marker
  }
}

/** Hides the visible marker of a session, if it has one. */
export function hideMarker(data: Hiding): void {
  const marker = data[MARKER_KEY]
  if (marker === undefined) return
  data[HIDDEN_MARKER] = marker
  delete data[MARKER_KEY]
}

/** Copies a hidden marker into another session, because frameworks copy only what `for…in` finds. */
export function carryMarker(from: Hiding, to: Hiding): void {
  const marker = from[HIDDEN_MARKER]
  if (marker === undefined) return
  to[HIDDEN_MARKER] = marker
  if (MARKER_KEY in to) delete to[MARKER_KEY]
}

/** Removes the hidden marker of a session, if it has one. */
export function dropHidden(data: Hiding): void {
  if (HIDDEN_MARKER in data) delete data[HIDDEN_MARKER]
}
