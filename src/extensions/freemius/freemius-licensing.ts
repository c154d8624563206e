import * as z from 'zod/mini'
import { type Activation, isProductId, type LicenseState, type RawAddon } from '../../extend.ts'
import { LICENSING_ID } from '../../ground/constants.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { callable, type Declared, must, resolveDeclared, whole } from '../../ground/option-checks.ts'
import { LicensingError, type LicensingProvider } from '../../index.ts'
import { callFreemius, type DigestForm, signedHeaders, withinTime } from './freemius-call.ts'

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
  // Freemius documents the first form, but its own library uses the second, so try both.
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
        // With 404, the site no longer has a seat, so there is nothing to release.
        const { code, httpStatus } = error as LicensingError
        if (code !== 'license_missing' || httpStatus !== 404) throw error
      }
    },
    ...(resolved.validate ? { validate } : {}),
  }
}

type Validate = NonNullable<LicensingProvider['validate']>

/** Returns a 64-bit id as a string. Freemius sends ids as strings or numbers. */
function idOf(value: unknown): string {
  const id = typeof value === 'number' ? String(value) : value
  if (typeof id === 'string' && /^[1-9]\d{0,19}$/.test(id)) return id
  throw new LicensingError('provider_bad_response')
}

function numberOf(id: string): number | string {
  return Number.isSafeInteger(Number(id)) ? Number(id) : id
}

/** Options of freemiusLicensing(). Set either `apiToken` or `publicKey`. */
export interface FreemiusLicensingOptions {
  /** Id of the main product, whose add-ons are listed. @default LICENSING_ID, sessmgr's own id */
  productId?: number | undefined
  /** API token of the product. It stays on the server. */
  apiToken?: string | undefined
  /** Public key of the product, used to sign requests. */
  publicKey?: string | undefined
  /** Secret key of the product, used together with `publicKey`. @default none: only public data */
  secretKey?: string | undefined
  /** URL of each add-on's page, by product id. @default its checkout page */
  homepages?: Readonly<Record<number, string>> | undefined
  /** Whether to check licenses from time to time. This puts license keys into request URLs. @default false */
  validate?: boolean | undefined
  /** URL of the API: https, or http on this machine. @default 'https://api.freemius.com' */
  baseUrl?: string | undefined
  /** URL of the checkout, without the product id. @default 'https://checkout.freemius.com/plugin/' */
  checkoutUrl?: string | undefined
  /** How many milliseconds a call may take, including retries, from 1 to 10,000. @default 10000 */
  timeoutMs?: number | undefined
  /** Sends the requests. @default the global fetch */
  fetch?: typeof fetch | undefined
}

interface ResolvedFreemiusOptions {
  readonly productId: number
  readonly access:
    | { readonly apiToken: string }
    | { readonly publicKey: string; readonly secretKey?: string | undefined }
  readonly homepages: Readonly<Record<number, string>>
  readonly validate: boolean
  /** URL of the API, without a trailing slash. */
  readonly baseUrl: string
  readonly checkoutUrl: string
  readonly timeoutMs: number
  readonly fetch: typeof fetch
}

/** A credential is sent in a header, so it must be printable ASCII without spaces. */
const CREDENTIAL = /^[\x21-\x7e]+$/
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

const credential = must('be a string without spaces', (value) => typeof value === 'string' && CREDENTIAL.test(value))
const address = must(
  'be an https URL (or an http URL on this machine) without user name, password, query or fragment',
  (value) => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))
    return isSafe && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  },
)

const OPTIONS = {
  productId: [must('be the product id, a positive integer', isProductId), LICENSING_ID],
  apiToken: [credential],
  publicKey: [credential],
  secretKey: [credential],
  homepages: [must('be an object of URLs', (value) => typeof value === 'object' && value !== null), {}],
  validate: [must('be true or false', (value) => typeof value === 'boolean'), false],
  baseUrl: [address, 'https://api.freemius.com'],
  checkoutUrl: [address, 'https://checkout.freemius.com/plugin/'],
  timeoutMs: [whole(1, 10_000), 10_000],
  fetch: [callable()],
} as const satisfies Declared<FreemiusLicensingOptions>

/**
 * Checks the options.
 *
 * @throws SessmgrError `invalid_option` that names the option, but never contains a credential.
 */
export function resolveFreemiusOptions(options: FreemiusLicensingOptions): ResolvedFreemiusOptions {
  if (typeof options !== 'object' || options === null) {
    throw invalidOption('freemiusLicensing() needs options such as { productId, apiToken }')
  }
  const { apiToken, publicKey, secretKey, baseUrl, fetch: given, ...resolved } = resolveDeclared(OPTIONS, options)
  const access = accessOf({ apiToken, publicKey, secretKey })
  // Looked up on every call, because an application may replace the global fetch.
  const send: typeof fetch = given ?? ((input, init) => fetch(input, init))
  return { ...resolved, access, baseUrl: baseUrl.replace(/\/+$/, ''), fetch: send }
}

function accessOf({ apiToken, publicKey, secretKey }: FreemiusLicensingOptions): ResolvedFreemiusOptions['access'] {
  if (publicKey !== undefined && apiToken === undefined) return { publicKey, secretKey }
  if (apiToken !== undefined && publicKey === undefined && secretKey === undefined) return { apiToken }
  throw invalidOption('Pass either "apiToken", or "publicKey" with or without "secretKey"')
}

/**
 * Reads the add-ons from a response, under `addons` or `plugins`.
 *
 * @throws LicensingError `provider_bad_response` if there is no such list.
 */
function freemiusAddons(
  answer: unknown,
  pages: Pick<ResolvedFreemiusOptions, 'checkoutUrl' | 'homepages'>,
): RawAddon[] {
  const { addons, plugins } = Object(answer) as { addons?: unknown; plugins?: unknown }
  const list = addons ?? plugins
  if (!Array.isArray(list)) throw new LicensingError('provider_bad_response')
  return list.map((addon) => rawAddon(addon, pages))
}

function rawAddon(
  addon: unknown,
  { checkoutUrl, homepages }: Pick<ResolvedFreemiusOptions, 'checkoutUrl' | 'homepages'>,
): RawAddon {
  const plugin = Object(addon) as Record<string, unknown>
  const info = Object(plugin.info) as Record<string, unknown>
  const id = typeof plugin.id === 'number' || /^\d+$/.test(text(plugin.id)) ? Number(plugin.id) : undefined
  if (!isProductId(id)) throw new LicensingError('provider_bad_response')
  const link = `${checkoutUrl}${id}`
  return {
    id,
    slug: text(plugin.slug),
    title: text(plugin.title),
    is_premium: plugin.is_pricing_visible === true,
    icon: text(plugin.icon) || null,
    link,
    description: text(info.short_description) || text(info.description),
    homepage: homepages[id] ?? link,
    banner: text(info.card_banner_url),
    banner_large: text(info.banner_url),
    raw: withoutSecrets(addon),
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Removes secret keys, which Freemius may include in products. */
function withoutSecrets(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value, (name, part) => (/secret|token/i.test(name) ? undefined : part)))
  } catch {
    // This fails only if the data is nested more deeply than any valid response.
    throw new LicensingError('provider_bad_response')
  }
}

const license = z.object({
  plugin_id: z.union([z.string(), z.number()]),
  quota: z.nullable(z.int()),
  activated: z.int(),
  expiration: z.nullable(z.string()),
  is_cancelled: z.boolean(),
  is_block_features: z.boolean(),
})

/**
 * Reads the state of a license. An expired license stays valid if the vendor lets its features continue.
 *
 * @throws LicensingError `provider_bad_response` if the response is not a license.
 */
function licenseState(productId: number, answer: unknown, now = Date.now()): LicenseState {
  const parsed = license.safeParse(answer)
  if (!parsed.success) throw new LicensingError('provider_bad_response')
  const { plugin_id, quota, activated: used, expiration, is_cancelled, is_block_features } = parsed.data
  // Freemius sends times in UTC, without a time zone.
  const time = expiration === null ? null : Date.parse(`${expiration.replace(' ', 'T')}Z`)
  if (Number.isNaN(time)) throw new LicensingError('provider_bad_response')
  const expiresAt = time === null ? null : new Date(time).toISOString()
  const state = { expiresAt, quota, used }
  if (Number(plugin_id) !== productId) return { ...state, active: false, reason: 'license_wrong_product' }
  if (is_cancelled) return { ...state, active: false, reason: 'license_revoked' }
  if (time !== null && time <= now && is_block_features) return { ...state, active: false, reason: 'license_expired' }
  return { ...state, active: true }
}
