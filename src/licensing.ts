export { freemiusLicensing } from './features/addons/freemius/freemius-licensing.ts'
export type { FreemiusLicensingOptions } from './features/addons/freemius/freemius-options.ts'
export { type AddonCode, type LicensingCode, LicensingError } from './features/addons/licensing/licensing-error.ts'
export type {
  Activation,
  LicenseCall,
  LicenseState,
  LicensingProvider,
  RawAddon,
  SiteIdentity,
} from './features/addons/licensing/licensing-provider.ts'
export type { Ed25519Jwk } from './features/addons/offline/ed25519-jwk.ts'
export {
  issueLicense,
  issueRevocations,
  type LicenseGrant,
  type SigningKey,
} from './features/addons/offline/issue-license.ts'
export type { OfflineAddon } from './features/addons/offline/offline-catalogue.ts'
export { offlineLicensing } from './features/addons/offline/offline-licensing.ts'
export type { OfflineLicensingOptions } from './features/addons/offline/offline-options.ts'
