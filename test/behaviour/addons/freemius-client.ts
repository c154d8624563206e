import { expect } from 'vitest'
import { VERSION } from '../../../src/constants.ts'
import { type FreemiusLicensingOptions, freemiusLicensing, LicensingError } from '../../../src/licensing.ts'
import { API_TOKEN, type Fault, type FreemiusServer, PARENT, sendJson } from './freemius-server.ts'

/** The site that licenses are for. */
export const SITE = {
  uid: '0123456789abcdef'.repeat(2),
  url: 'https://shop.example.test',
  title: 'Shop',
  version: VERSION,
}

/** Makes a provider that asks this backend. */
export function providerOf({ baseUrl }: Pick<FreemiusServer, 'baseUrl'>, more: Partial<FreemiusLicensingOptions> = {}) {
  return freemiusLicensing({ productId: PARENT, apiToken: API_TOKEN, baseUrl, ...more })
}

/** Waits for the error of a call that must fail. */
export function failure(call: Promise<unknown>): Promise<LicensingError> {
  return call.then(
    () => expect.unreachable('the call succeeded'),
    (error) => {
      expect(error).toBeInstanceOf(LicensingError)
      return error
    },
  )
}

/** Tells in a word how a call ended. */
export function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error) => (error instanceof LicensingError ? error.code : `a fault: ${error}`),
  )
}

/** Answers so, whatever is asked. */
export function json(status: number, body: unknown): Fault {
  return (_request, response) => sendJson(response, status, body)
}
