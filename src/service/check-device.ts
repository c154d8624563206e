import { invalidOption } from '../ground/invalid-option.ts'
import { requireBoolean, requireKnown, requireObject } from '../ground/option-checks.ts'

interface DeviceOptions {
  readonly device?: unknown
  readonly deviceCookie?: { readonly name?: unknown } | undefined
}

/**
 * Checks the options `device` and `deviceCookie`.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function checkDevice({ device, deviceCookie = {} }: DeviceOptions): { device: boolean; deviceName: string } {
  if (device !== undefined) requireBoolean('device', device)
  requireObject('"deviceCookie"', deviceCookie)
  requireKnown(deviceCookie, ['name'], (name) => `There is no option "deviceCookie.${name}"`)
  const { name = 'sessmgr_device' } = deviceCookie
  if (typeof name !== 'string' || !/^(?!__)[\w.-]+$/.test(name)) {
    const rule = 'of letters, digits, "_", "-" and ".", and without "__Host-", which is added over HTTPS'
    throw invalidOption(`"deviceCookie.name" must be a cookie name ${rule}`)
  }
  if (device === undefined && deviceCookie.name !== undefined) {
    throw invalidOption('"deviceCookie" has no effect without device: true')
  }
  return { device: device === true, deviceName: name }
}
