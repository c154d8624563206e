export type { FreemiusLicensingOptions } from './features/addons/freemius/freemius-licensing.ts'
export { freemiusLicensing } from './features/addons/freemius/freemius-licensing.ts'
export { type AddonCode, type LicensingCode, LicensingError } from './features/addons/licensing/licensing-error.ts'
export type {
  Activation,
  LicenseCall,
  LicenseState,
  LicensingProvider,
  RawAddon,
  SiteIdentity,
} from './features/addons/licensing/licensing-provider.ts'
export { offlineLicensing } from './features/addons/offline/offline-licensing.ts'
export type { OfflineAddon, OfflineLicensingOptions } from './features/addons/offline/offline-options.ts'
export type { Ed25519Jwk } from './features/addons/offline/signed-license.ts'
export {
  issueLicense,
  issueRevocations,
  type LicenseGrant,
  type SigningKey,
} from './features/addons/offline/signed-license.ts'
