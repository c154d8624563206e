export { errorResponse, type FetchCalls, type FetchOptions, fetchCalls } from './adapters/fetch-calls.ts'
