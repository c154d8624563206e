export * from './ground/constants.ts'
