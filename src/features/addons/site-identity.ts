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
  /** The site's display name. @default none */
  readonly title?: string | undefined
}

/**
 * Returns the identity of the site: a hash of its URL, so that a test copy at another URL has a different identity. A
 * random value from the store salts the hash, so that it does not reveal the URL.
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

/** Returns host and path. A different scheme or a trailing slash does not make it another site. */
function placeOf(url: string | undefined): string {
  if (url === undefined) return ''
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\/+$/, '')}`
}
