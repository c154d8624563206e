import { RestError } from '../../routes/rest-error.ts'
import { LicensingError } from './licensing/licensing-error.ts'

const RETRY = { 'Retry-After': '30' }

/** Converts a license error to a response: 404 for an unknown add-on, otherwise 400. */
export async function orLicenseRefusal<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error) => {
    throw error instanceof LicensingError ? refusal(error, error.code === 'addon_not_found' ? 404 : 400) : error
  })
}

/** Converts a failure of the catalogue to a response that blames the provider, not the caller. */
export async function orCatalogueRefusal<T>(answer: Promise<T>): Promise<T> {
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
