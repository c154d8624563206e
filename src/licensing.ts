export { freemiusLicensing } from './addons/freemius/freemius-licensing.ts'
export type { FreemiusLicensingOptions } from './addons/freemius/freemius-options.ts'
export { type AddonCode, type LicensingCode, LicensingError } from './addons/licensing-error.ts'
export type {
  Activation,
  LicenseCall,
  LicenseState,
  LicensingProvider,
  RawAddon,
  SiteIdentity,
} from './addons/licensing-provider.ts'
export type { Ed25519Jwk } from './addons/offline/ed25519-jwk.ts'
export { issueLicense, issueRevocations, type LicenseGrant, type SigningKey } from './addons/offline/issue-license.ts'
export type { OfflineAddon } from './addons/offline/offline-catalogue.ts'
export { offlineLicensing } from './addons/offline/offline-licensing.ts'
export type { OfflineLicensingOptions } from './addons/offline/offline-options.ts'
