import { LicensingError } from '../licensing/licensing-error.ts'
import type { Activation, LicenseState, LicensingProvider, RawAddon } from '../licensing/licensing-provider.ts'
import { freemiusAddons } from './freemius-addon.ts'
import { callFreemius } from './freemius-call.ts'
import { type FreemiusLicensingOptions, resolveFreemiusOptions } from './freemius-options.ts'
import { licenseState } from './license-state.ts'
import { type DigestForm, signedHeaders } from './signed-headers.ts'
import { withinTime } from './within-time.ts'

const PAGE = 50
const MAX_PAGES = 20

/**
 * Creates a licensing provider for licenses sold through Freemius.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * sessmgr({ site: { url: 'https://example.com' }, licensing: freemiusLicensing({ productId: 1234, apiToken }) })
 */
export function freemiusLicensing(options: FreemiusLicensingOptions): LicensingProvider {
  const { productId, access, baseUrl, timeoutMs, ...resolved } = resolveFreemiusOptions(options)
  // Freemius documents the first form, but its own library signs with the second.
  let forms: readonly DigestForm[] = ['bytes', 'hex']

  const urlOf = (path: string, query: Record<string, string> = {}) =>
    new URL(`${baseUrl}${path}${Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ''}`)

  async function page(offset: number, signal: AbortSignal): Promise<unknown> {
    const query = { enriched: 'true', show_pending: 'false', count: String(PAGE), offset: String(offset) }
    if ('apiToken' in access) {
      const headers = { Authorization: `Bearer ${access.apiToken}` }
      const url = urlOf(`/v1/products/${productId}/addons.json`, query)
      return callFreemius(resolved.fetch, { method: 'GET', url, headers, signal })
    }
    const path = `/v1/plugins/${productId}/addons.json`
    for (const form of forms) {
      const headers = signedHeaders({ method: 'GET', path, date: new Date(), id: productId, ...access, form })
      try {
        const answer = await callFreemius(resolved.fetch, { method: 'GET', url: urlOf(path, query), headers, signal })
        forms = [form]
        return answer
      } catch (error) {
        if ((error as LicensingError).httpStatus !== 401 || form === forms.at(-1)) throw error
      }
    }
    throw new LicensingError('provider_rejected')
  }

  async function everyPage(signal: AbortSignal): Promise<readonly RawAddon[]> {
    const addons = new Map<number, RawAddon>()
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const known = addons.size
      const found = freemiusAddons(await page(pages * PAGE, signal), resolved)
      for (const addon of found) addons.set(addon.id, addon)
      // A server that ignores the offset returns the same page again.
      if (found.length < PAGE || addons.size === known) break
    }
    return [...addons.values()]
  }

  async function post(path: string, body: object, signal: AbortSignal | undefined): Promise<Record<string, unknown>> {
    const send = (whole: AbortSignal) =>
      callFreemius(resolved.fetch, { method: 'POST', url: urlOf(path), body, signal: whole })
    return Object(await withinTime(timeoutMs, signal, send))
  }

  async function validate({ productId: id, activation, signal }: Parameters<Validate>[0]): Promise<LicenseState> {
    const { installId, uid, key } = activation
    const path = `/v1/products/${id}/installs/${encodeURIComponent(installId ?? '')}/license.json`
    const url = urlOf(path, { uid, license_key: key })
    const ask = (whole: AbortSignal) => callFreemius(resolved.fetch, { method: 'GET', url, signal: whole })
    try {
      return licenseState(id, await withinTime(timeoutMs, signal, ask))
    } catch (error) {
      const { code } = error as LicensingError
      if (!code.startsWith('license_')) throw error
      return { active: false, reason: code as LicenseState['reason'], expiresAt: null, quota: null, used: null }
    }
  }

  return {
    name: `freemius:${productId}`,
    listAddons: ({ signal }) => withinTime(timeoutMs, signal, everyPage),
    async activate({ productId: id, key, site, previous, signal }) {
      const { uid, url, title, version } = site
      const install = previous?.installId == null ? {} : { install_id: numberOf(previous.installId) }
      const body = { uid, license_key: key, url, title, version, ...install }
      const activation = (installId: string, plan: unknown): Activation => ({
        productId: id,
        key,
        uid,
        installId,
        plan: typeof plan === 'string' ? plan : null,
        activatedAt: new Date().toISOString(),
        expiresAt: null,
      })
      try {
        const answer = await post(`/v1/products/${id}/licenses/activate.json`, body, signal)
        return activation(idOf(answer.install_id), answer.license_plan_name)
      } catch (error) {
        if ((error as LicensingError).code !== 'license_already_active' || previous?.installId == null) throw error
        return activation(previous.installId, previous.plan)
      }
    },
    async deactivate({ productId: id, activation, signal }) {
      const { uid, installId, key } = activation
      const body = { uid, install_id: numberOf(installId ?? ''), license_key: key }
      try {
        idOf((await post(`/v1/products/${id}/licenses/deactivate.json`, body, signal)).id)
      } catch (error) {
        // The site no longer has a seat.
        const { code, httpStatus } = error as LicensingError
        if (code !== 'license_missing' || httpStatus !== 404) throw error
      }
    },
    ...(resolved.validate ? { validate } : {}),
  }
}

type Validate = NonNullable<LicensingProvider['validate']>

/** Converts a 64-bit id, which Freemius sends as a string or a number. */
function idOf(value: unknown): string {
  const id = typeof value === 'number' ? String(value) : value
  if (typeof id === 'string' && /^[1-9]\d{0,19}$/.test(id)) return id
  throw new LicensingError('provider_bad_response')
}

function numberOf(id: string): number | string {
  return Number.isSafeInteger(Number(id)) ? Number(id) : id
}
