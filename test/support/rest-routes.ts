import { LICENSE_KEY } from './rest-licensing.ts'

/** One route, with a call that succeeds for an administrator after `arrange()`. */
export interface RouteCall {
  readonly method: string
  readonly path: string
  readonly json?: object
  /** Whether the call changes nothing although it is not a GET. */
  readonly changesNothing?: true
  /** Whether the answer is a file. */
  readonly isFile?: true
}

const SETTINGS = '/sessmgr/v1/settings'
const ADDONS = '/sessmgr/v1/addons'
const SITE_SETTINGS = '/wp/v2/settings'
const PASSWORDS = '/sessmgr/v1/application-passwords'
/** Id of the application password of alice that `arrange()` adds. */
export const PASSWORD_ID = '00000000-0000-4000-8000-000000000000'
const WRITES = ['POST', 'PUT', 'PATCH'] as const

/** Every route that only administrators may call. A test compares this list and the next two with the OpenAPI document. */
export const ADMIN_ROUTES: readonly RouteCall[] = [
  { method: 'GET', path: SETTINGS },
  ...WRITES.map((method) => ({ method, path: SETTINGS, json: { maximum: 4 } })),
  { method: 'DELETE', path: SETTINGS },
  { method: 'GET', path: `${SETTINGS}/logic` },
  { method: 'DELETE', path: `${SETTINGS}/logic` },
  { method: 'GET', path: '/sessmgr/v1/sessions?user=alice' },
  { method: 'GET', path: '/sessmgr/v1/sessions/export?user=alice', isFile: true },
  { method: 'GET', path: '/sessmgr/v1/people' },
  { method: 'GET', path: '/sessmgr/v1/people/summary' },
  { method: 'GET', path: '/sessmgr/v1/audit/counts?from=0&step=999999999999' },
  { method: 'GET', path: '/sessmgr/v1/people/search?q=alice' },
  { method: 'GET', path: '/sessmgr/v1/people/export', isFile: true },
  { method: 'GET', path: '/sessmgr/v1/explain?user=alice' },
  { method: 'POST', path: '/sessmgr/v1/sessions/destroy', json: { user: 'alice' } },
  { method: 'POST', path: '/sessmgr/v1/sessions/destroy-all' },
  { method: 'POST', path: '/sessmgr/v1/users/erase', json: { id: '77' } },
  { method: 'GET', path: PASSWORDS },
  { method: 'DELETE', path: `${PASSWORDS}/${PASSWORD_ID}`, json: { user: 'alice' } },
  { method: 'GET', path: ADDONS },
  { method: 'POST', path: `${ADDONS}/refresh`, changesNothing: true },
  { method: 'POST', path: `${ADDONS}/1001/license`, json: { key: LICENSE_KEY } },
  { method: 'DELETE', path: `${ADDONS}/1001/license` },
  { method: 'GET', path: SITE_SETTINGS },
  ...WRITES.map((method) => ({ method, path: SITE_SETTINGS, json: { sessmgr_settings: { maximum: 4 } } })),
  { method: 'GET', path: `${SITE_SETTINGS}/sessmgr_settings` },
  { method: 'DELETE', path: `${SITE_SETTINGS}/sessmgr_settings` },
  { method: 'DELETE', path: `${SITE_SETTINGS}/sessmgr_settings/logic` },
  { method: 'GET', path: '/sessmgr/v1/audit?type=login.refused' },
  { method: 'GET', path: '/sessmgr/v1/audit/export', isFile: true },
  { method: 'GET', path: '/sessmgr/v1/support' },
  { method: 'GET', path: '/sessmgr/v1/openapi.json' },
]

/** Every route for administrators that accepts only a session with a nonce. */
export const PAGE_ROUTES: readonly RouteCall[] = [{ method: 'POST', path: PASSWORDS, json: { name: 'backup' } }]

/** Every route of a caller's own sessions. */
export const OWN_SESSION_ROUTES: readonly RouteCall[] = [
  { method: 'GET', path: '/sessmgr/v1/me/sessions' },
  { method: 'POST', path: '/sessmgr/v1/me/sessions/end', json: { token: 'a'.repeat(64) } },
  { method: 'POST', path: '/sessmgr/v1/me/sessions/end-others' },
  { method: 'POST', path: '/sessmgr/v1/me/reauthenticate', json: { password: 'wrong' } },
  { method: 'GET', path: '/sessmgr/v1/me/notice' },
]

/** Returns the path of a route as in the OpenAPI document. */
export function pathOf({ path }: { path: string }): string {
  const [place = ''] = path.split('?')
  return place
    .replace(/\/\d+(?=\/)/, '/{id}')
    .replace(PASSWORD_ID, '{password_id}')
    .replace(/\/logic$/, '/{key}')
    .replace('/sessmgr_settings', '/{option}')
}
