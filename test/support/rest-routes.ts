/** One route with a call that succeeds for an administrator while alice (2) exists. */
export interface RouteCall {
  readonly method: string
  readonly path: string
  readonly json?: object
}

const SETTINGS = '/sessmgr/v1/settings'
const SITE_SETTINGS = '/wp/v2/settings'
const WRITES = ['POST', 'PUT', 'PATCH'] as const

/** Every route that administrators alone may call. A test compares it with the OpenAPI document. */
export const ADMIN_ROUTES: readonly RouteCall[] = [
  { method: 'GET', path: SETTINGS },
  ...WRITES.map((method) => ({ method, path: SETTINGS, json: { maximum: 4 } })),
  { method: 'GET', path: '/sessmgr/v1/sessions?user=alice' },
  { method: 'POST', path: '/sessmgr/v1/sessions/destroy', json: { user: 'alice' } },
  { method: 'POST', path: '/sessmgr/v1/sessions/destroy-all' },
  { method: 'GET', path: SITE_SETTINGS },
  ...WRITES.map((method) => ({ method, path: SITE_SETTINGS, json: { sessmgr_settings: { maximum: 4 } } })),
  { method: 'GET', path: '/sessmgr/v1/openapi.json' },
]

/** Those of them that change something. */
export const UNSAFE_ROUTES = ADMIN_ROUTES.filter(({ method }) => method !== 'GET')
