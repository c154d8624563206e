import * as z from 'zod/mini'
import { RestError } from '../../routes/answer.ts'
import { type RestRoute, restRoute } from '../../routes/router.ts'
import type { Addons } from './addons.ts'
import { LicensingError } from './licensing.ts'

const PATH = '/sessmgr/v1/addons/{id}/license'
const PRODUCT_ID = /^[1-9]\d{0,15}$/
const MAX_KEY_LENGTH = 10_000

const productId = z.string().check(z.regex(PRODUCT_ID, 'must be a product id, a positive integer'))
const licenseKey = z.string('must be a string').check(z.maxLength(MAX_KEY_LENGTH, 'is too long'))

type Params = Readonly<Record<string, unknown>>

const schemas = () => ({
  params: z.object({}),
  response: z.object({ items: z.array(addonRowSchema), age: z.optional(z.int()) }),
})

/** Returns the routes for the add-on catalogue and for licenses. */
export function addonsRoutes(addons: Addons): readonly RestRoute[] {
  return [
    restRoute({
      methods: ['GET'],
      path: '/sessmgr/v1/addons',
      summary: 'Lists the add-on catalogue. "age", in seconds, is only set if the provider could not be reached.',
      access: 'manage_options',
      schemas,
      handle: () => orCatalogueRefusal(addons.list()),
    }),
    restRoute({
      methods: ['POST'],
      path: '/sessmgr/v1/addons/refresh',
      summary:
        'Fetches the add-on catalogue from the licensing provider. If that fails, returns the last list with its age.',
      access: 'manage_options',
      schemas,
      handle: () => orCatalogueRefusal(addons.refresh()),
    }),
    restRoute<{ id: string; key: string }>({
      methods: ['POST'],
      path: PATH,
      summary: "Activates an add-on's license on this site.",
      access: 'manage_options',
      schemas: () => ({ params: z.object({ id: productId, key: licenseKey }), response: addonRowSchema }),
      precheck(params) {
        requireProductId(params)
        requireKey(params)
      },
      handle: ({ params: { id, key } }) => orLicenseRefusal(addons.activate(Number(id), key)),
    }),
    restRoute<{ id: string }>({
      methods: ['DELETE'],
      path: PATH,
      summary: "Deactivates an add-on's license on this site, so that it can be used on another.",
      access: 'manage_options',
      schemas: () => ({ params: z.object({ id: productId }), response: addonRowSchema }),
      precheck: requireProductId,
      handle: ({ params: { id } }) => orLicenseRefusal(addons.deactivate(Number(id))),
    }),
  ]
}

/** Rejects ids that no add-on can have. */
function requireProductId({ id }: Params): void {
  if (PRODUCT_ID.test(String(id)) && Number.isSafeInteger(Number(id))) return
  throw new RestError(404, 'addon_not_found', new LicensingError('addon_not_found').message)
}

function requireKey({ key }: Params): void {
  const isMissing = key === undefined || key === null || (typeof key === 'string' && key.trim() === '')
  if (isMissing) throw new RestError(400, 'empty_activation_key', new LicensingError('empty_activation_key').message)
}

const RETRY = { 'Retry-After': '30' }

/** Converts a license error to an error response: 404 for an unknown add-on, otherwise 400. */
async function orLicenseRefusal<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error) => {
    throw error instanceof LicensingError ? refusal(error, error.code === 'addon_not_found' ? 404 : 400) : error
  })
}

/** Converts a failure of the catalogue to a response that blames the provider, not the caller. */
async function orCatalogueRefusal<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error) => {
    if (!(error instanceof LicensingError)) throw error
    const isAboutProvider = error.code.startsWith('provider_')
    // The call was not about a license, so a license code means that the provider refused it.
    const told = isAboutProvider ? error : new LicensingError('provider_rejected', { providerCode: error.providerCode })
    throw refusal(told, told.retryable ? 503 : 502)
  })
}

function refusal({ code, message, retryable, providerCode }: LicensingError, status: number): RestError {
  const data = { ...(retryable && { retryable }), ...(providerCode !== undefined && { provider_code: providerCode }) }
  return new RestError(status, code, message, { data, headers: status === 503 ? RETRY : {} })
}

/** Schema of a catalogue row in responses. */
const addonRowSchema = z.object({
  id: z.int(),
  title: z.string(),
  icon: z.string(),
  link: z.string(),
  description: z.string(),
  homepage: z.string(),
  is_premium: z.boolean(),
  is_active: z.boolean(),
  is_license_active: z.boolean(),
  license_key: z.string(),
  banner: z.string(),
  banner_large: z.string(),
})
