export { type FreemiusLicensingOptions, freemiusLicensing } from './features/addons/freemius-licensing.ts'
export {
  type Activation,
  type AddonCode,
  type LicenseCall,
  type LicenseState,
  type LicensingCode,
  LicensingError,
  type LicensingProvider,
  type RawAddon,
  type SiteIdentity,
} from './features/addons/licensing.ts'
export {
  type OfflineAddon,
  type OfflineLicensingOptions,
  offlineLicensing,
} from './features/addons/offline-licensing.ts'
export {
  type Ed25519Jwk,
  issueLicense,
  issueRevocations,
  type LicenseGrant,
  type SigningKey,
} from './features/addons/signed-license.ts'
