export {
  errorResponse,
  type FetchCalls,
  type FetchOptions,
  type FetchRequest,
  fetchCalls,
} from './adapters/fetch-calls.ts'
