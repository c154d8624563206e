export { type FakeClock, fakeClock } from './testing/fake-clock.ts'
export {
  type LicensingContractOptions,
  type LicensingUnderTest,
  registerLicensingContract,
} from './testing/licensing/licensing-contract.ts'
export {
  registerStoreContract,
  type StoreContractOptions,
  type StoreUnderTest,
} from './testing/store/store-contract.ts'
