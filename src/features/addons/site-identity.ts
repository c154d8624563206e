import { createHash, randomBytes } from 'node:crypto'
import { VERSION } from '../../ground/constants.ts'
import type { OptionStore } from '../../options/option-store.ts'
import type { SiteIdentity } from './licensing/licensing-provider.ts'

// The point keeps it apart from the options that add-ons register, whose names have none.
const OPTION = 'sessmgr.site'

/** What the application says of its site. */
export interface SiteOptions {
  /** Public address, such as `https://example.com`. */
  readonly url: string
  /** Name of the site that people read. @default none */
  readonly title?: string | undefined
}

/**
 * Gives the identity of the site: another one on another address, such as on a copy for tests, and one that does not
 * tell the address, because it is salted with a random value that lies in the store.
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

/** Host and path: http or https, and a slash more or less, are the same site. */
function placeOf(url: string | undefined): string {
  if (url === undefined) return ''
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\/+$/, '')}`
}
