import { invalidOption } from '../../../ground/invalid-option.ts'
import { requireKnown } from '../../../ground/option-checks.ts'
import type { SiteOptions } from '../addons.ts'
import type { LicensingProvider } from './licensing-provider.ts'

const METHODS = ['listAddons', 'activate', 'deactivate'] as const
const NAME = /^[a-z][a-z0-9.:-]*$/

/**
 * Checks the options `licensing` and `site`.
 *
 * @throws SessmgrError `invalid_option` with the option.
 */
export function checkLicensing(licensing: LicensingProvider | undefined, site: SiteOptions | undefined): void {
  if (site !== undefined) checkSite(site)
  if (licensing === undefined) return
  const isProvider = METHODS.every((method) => typeof licensing?.[method] === 'function')
  if (!isProvider || !NAME.test(licensing.name)) {
    throw invalidOption(
      '"licensing" must be a provider created by offlineLicensing() or freemiusLicensing() from sessmgr/licensing',
    )
  }
  if (site === undefined) {
    throw invalidOption(
      '"licensing" needs "site", because licenses are bound to it: site: { url: \'https://example.com\' }',
    )
  }
}

function checkSite(site: SiteOptions): void {
  if (typeof site !== 'object' || site === null) throw invalidOption('"site" must be an object: { url, title }')
  requireKnown(site, ['url', 'title'], (name) => `There is no option "site.${name}"`)
  const url = typeof site.url === 'string' && URL.canParse(site.url) ? new URL(site.url) : undefined
  const isPublic = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (!isPublic) throw invalidOption('"site.url" must be the public address of the site, such as https://example.com')
  if (site.title !== undefined && typeof site.title !== 'string') throw invalidOption('"site.title" must be a string')
}
