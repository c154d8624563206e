export { type FakeClock, fakeClock } from './testing/fake-clock.ts'
export { registerStoreContract, type StoreContractOptions, type StoreUnderTest } from './testing/store-contract.ts'
