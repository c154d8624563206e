import type { SiteSeal, SiteSecrets } from '../auth/site-secrets.ts'
import { BoundedMap } from '../ground/bounded-map.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import { isUserId, type UserId } from '../ground/user-id.ts'
import type { Token } from '../sessions/token.ts'
import type { HostSessionData } from './host-types.ts'
import type { OriginSession } from './request/standing.ts'

/** Key of the marker in the session data. */
export const MARKER_KEY = 'sessmgr'

const CAPACITY = 20_000
const BITS = 192

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

/** Finds the very object that marks a session, be it good or not: two sessions never share it. */
export function markerIn(data: HostSessionData): object | undefined {
  const marker = data[MARKER_KEY]
  return typeof marker === 'object' && marker !== null ? marker : undefined
}

/** Signs the markers of sessions and checks their signatures. Both need the seal of the site, which is loaded once. */
export class SessionMarks {
  readonly #siteSecrets: SiteSecrets
  readonly #storeId: string
  /** Copies of the markers that were checked or made, and the seal that they belong to. */
  readonly #good = new BoundedMap<Token, SessionMarker>(CAPACITY)
  #seal: SiteSeal | undefined

  constructor(siteSecrets: SiteSecrets, storeId: string) {
    this.#siteSecrets = siteSecrets
    this.#storeId = storeId
  }

  /** Waits until markers can be read and written. @throws SessmgrError `store_unavailable`. */
  async ready(): Promise<void> {
    if (!this.#siteSecrets.known) await this.#siteSecrets.load()
  }

  /** Asks the store whether its registry is another than this process knew, as after `uninstall`. */
  hasChanged(): Promise<boolean> {
    return this.#siteSecrets.refresh()
  }

  /** Reads the marker of a session if it was checked or made before, with the newest secret, and no other came since. */
  known(data: HostSessionData, token: Token): SessionMarker | undefined {
    this.#currentSeal()
    const good = this.#good.get(token)
    const found = data[MARKER_KEY] as Partial<SessionMarker> | null | undefined
    const isGood = good && good.token === found?.token && good.userId === found.userId
    return isGood && good.signature === found.signature ? good : undefined
  }

  /** Reads the marker of a session if it is signed for this session and this registry. */
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

  /** Tells whether a good marker is signed with the newest secret. One that is not says nothing once its secret is gone. */
  isNewest({ token, signature }: SessionMarker): boolean {
    return this.#good.get(token)?.signature === signature
  }

  /** Finds the session of a user that data was copied from, under whatever id: its good marker tells. */
  copiedFrom(data: HostSessionData, userId: UserId): OriginSession | undefined {
    const { token } = (markerIn(data) ?? {}) as Partial<SessionMarker>
    const marker = typeof token === 'string' ? this.read(data, token) : undefined
    return marker && String(marker.userId) === String(userId) ? { ...marker, isReadable: true } : undefined
  }

  /** Makes a marker; none where the registry was forgotten in this very moment. */
  seal(userId: UserId, token: Token): SessionMarker | undefined {
    const seal = this.#currentSeal()
    if (!seal) return undefined
    const good = this.#good.get(token)
    if (good?.userId === userId) return { ...good }
    const signature = this.#sign(seal.secrets[0], seal, { userId, token }).toString('base64url')
    const marker = { userId, token, signature }
    // A copy: what the application does to its session must not change what is taken for good.
    this.#good.set(token, { ...marker })
    return marker
  }

  #sign(secret: string, { registry }: SiteSeal, { userId, token }: { userId: UserId; token: Token }): Buffer {
    // As JSON, so that no two markers can read the same; its first word keeps it apart from a nonce.
    const message = JSON.stringify(['session', token, userId, this.#storeId, registry])
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
