import { LICENSING_ID } from '../../../ground/constants.ts'
import { invalidOption } from '../../../ground/invalid-option.ts'
import { requireKnown, requireWhole } from '../../../ground/option-checks.ts'
import { isProductId } from '../addon-row.ts'

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
  /** How many milliseconds a call with its retries may take, from 1 to 10,000. @default 10000 */
  timeoutMs?: number | undefined
  /** Sends the requests. @default the global fetch */
  fetch?: typeof fetch | undefined
}

export interface ResolvedFreemiusOptions {
  readonly productId: number
  readonly access:
    | { readonly apiToken: string }
    | { readonly publicKey: string; readonly secretKey?: string | undefined }
  readonly homepages: Readonly<Record<number, string>>
  readonly validate: boolean
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly checkoutUrl: string
  readonly timeoutMs: number
  readonly fetch: typeof fetch
}

const OPTIONS = [
  'productId',
  'apiToken',
  'publicKey',
  'secretKey',
  'homepages',
  'validate',
  'baseUrl',
  'checkoutUrl',
  'timeoutMs',
  'fetch',
] as const satisfies readonly (keyof FreemiusLicensingOptions)[]

/** A credential is sent in a header, so it must be printable ASCII without spaces. */
const CREDENTIAL = /^[\x21-\x7e]+$/
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Checks the options.
 *
 * @throws SessmgrError `invalid_option` that names the option, but never contains a credential.
 */
export function resolveFreemiusOptions(options: FreemiusLicensingOptions): ResolvedFreemiusOptions {
  if (typeof options !== 'object' || options === null) {
    throw invalidOption('freemiusLicensing() needs options such as { productId, apiToken }')
  }
  requireKnown(options, OPTIONS)
  const {
    productId = LICENSING_ID,
    homepages = {},
    validate = false,
    baseUrl = 'https://api.freemius.com',
    checkoutUrl = 'https://checkout.freemius.com/plugin/',
    timeoutMs = 10_000,
  } = options
  if (!isProductId(productId)) throw invalidOption('"productId" must be the id of the product, a positive integer')
  if (typeof homepages !== 'object' || homepages === null) throw invalidOption('"homepages" must be an object of URLs')
  if (typeof validate !== 'boolean') throw invalidOption('"validate" must be true or false')
  requireWhole('timeoutMs', timeoutMs, 1, 10_000)
  if (options.fetch !== undefined && typeof options.fetch !== 'function')
    throw invalidOption('"fetch" must be a function')
  return {
    productId,
    access: checkAccess(options),
    homepages,
    validate,
    baseUrl: checkAddress('baseUrl', baseUrl).replace(/\/+$/, ''),
    checkoutUrl: checkAddress('checkoutUrl', checkoutUrl),
    timeoutMs,
    // Looked up on every call, because an application may replace the global fetch.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  }
}

function checkAccess({ apiToken, publicKey, secretKey }: FreemiusLicensingOptions): ResolvedFreemiusOptions['access'] {
  for (const [name, value] of Object.entries({ apiToken, publicKey, secretKey })) {
    if (value === undefined || (typeof value === 'string' && CREDENTIAL.test(value))) continue
    throw invalidOption(`"${name}" must be a string without spaces`)
  }
  if (publicKey !== undefined && apiToken === undefined) return { publicKey, secretKey }
  if (apiToken !== undefined && publicKey === undefined && secretKey === undefined) return { apiToken }
  throw invalidOption('Pass either "apiToken", or "publicKey" with or without "secretKey"')
}

function checkAddress(name: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (isSafe && isPlain) return address
  throw invalidOption(
    `"${name}" must be an https URL (or an http URL on this machine) without user name, password, query or fragment`,
  )
}
