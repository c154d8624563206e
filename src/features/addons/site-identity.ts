import { createHash, randomBytes } from 'node:crypto'
import { VERSION } from '../../ground/constants.ts'
import type { OptionStore } from '../../options/option-store.ts'
import type { SiteIdentity } from './licensing/licensing-provider.ts'

// Names of add-on options never contain a dot.
const OPTION = 'sessmgr.site'

/** Describes the site. */
export interface SiteOptions {
  /** Public URL, such as `https://example.com`. */
  readonly url: string
  /** Display name of the site. @default none */
  readonly title?: string | undefined
}

/**
 * Returns the identity of the site. Each URL has a different one, so a test copy does not share that of the real site.
 * It is salted with a random value from the store, so that it does not reveal the URL.
 */
export function siteIdentity(options: OptionStore, site: SiteOptions | undefined): () => Promise<SiteIdentity> {
  let identity: Promise<SiteIdentity> | undefined
  async function make(): Promise<SiteIdentity> {
    await options.swap(OPTION, undefined, randomBytes(16).toString('hex'))
    const stored = await options.get(OPTION)
    const hash = createHash('sha256').update(JSON.stringify([stored?.value, placeOf(site?.url)]))
    const uid = hash.digest('hex').slice(0, 32)
    return { uid, url: site?.url ?? '', title: site?.title, version: VERSION }
  }
  return () => {
    identity ??= make().catch((error) => {
      identity = undefined
      throw error
    })
    return identity
  }
}

/** Returns host and path. The scheme and a trailing slash do not matter: the site is the same. */
function placeOf(url: string | undefined): string {
  if (url === undefined) return ''
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\/+$/, '')}`
}
