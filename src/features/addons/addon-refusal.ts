import { RestError } from '../../routes/rest-error.ts'
import { LicensingError } from './licensing/licensing-error.ts'

const RETRY = { 'Retry-After': '30' }

/** Turns what went wrong with a licence into an answer: 400, but for an add-on that nobody knows. */
export async function orLicenseRefusal<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error) => {
    throw error instanceof LicensingError ? refusal(error, error.code === 'addon_not_found' ? 404 : 400) : error
  })
}

/** Turns a provider's failure to give its catalogue into an answer: that is no fault of the caller's. */
export async function orCatalogueRefusal<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error) => {
    if (!(error instanceof LicensingError)) throw error
    const isAboutProvider = error.code.startsWith('provider_')
    // Nobody has asked about a licence: a backend that speaks of one, as for a product it does not know, has refused.
    const told = isAboutProvider ? error : new LicensingError('provider_rejected', { providerCode: error.providerCode })
    throw refusal(told, told.retryable ? 503 : 502)
  })
}

function refusal({ code, message, retryable, providerCode }: LicensingError, status: number): RestError {
  const data = { ...(retryable && { retryable }), ...(providerCode !== undefined && { provider_code: providerCode }) }
  return new RestError(status, code, message, { data, headers: status === 503 ? RETRY : {} })
}
