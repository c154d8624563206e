export type { DriverUnderTest } from './testing/driver-contract.ts'
export { type DocumentDriverContractOptions, registerDocumentDriverContract } from './testing/driver-contract.ts'
export { type FakeClock, fakeClock } from './testing/fake-clock.ts'
export type { LicensingUnderTest } from './testing/licensing-case.ts'
export { type LicensingContractOptions, registerLicensingContract } from './testing/licensing-contract.ts'
export {
  type SignInAgent,
  type SignInOptions,
  type SignInRequest,
  type SignInResponse,
  signIn,
} from './testing/sign-in.ts'
