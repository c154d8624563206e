export { type FreemiusLicensingOptions, freemiusLicensing } from './extensions/freemius/freemius-licensing.ts'
export {
  type OfflineAddon,
  type OfflineLicensingOptions,
  offlineLicensing,
} from './extensions/offline-licenses/offline-licensing.ts'
export {
  type Ed25519Jwk,
  issueLicense,
  issueRevocations,
  type LicenseGrant,
  type SigningKey,
} from './extensions/offline-licenses/signed-license.ts'
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
