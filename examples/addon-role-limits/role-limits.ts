import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { HostUsers, Middleware, Sessmgr } from 'sessmgr'
import type { DemoVendor } from './demo-vendor.ts'
import { registerRoleLimits } from './limits-option.ts'
import { createOwnLimits } from './own-limits.ts'
import { product } from './product.ts'

const NAME = 'role-limits'
const SCRIPT = '/addons/role-limits.js'

/** What the add-on needs from the application. */
export interface RoleLimitsOptions<User> {
  readonly vendor: DemoVendor
  /** The roles that the panel lists. */
  readonly roles: readonly string[]
  /** Returns a user's roles. The highest limit of these roles applies. */
  rolesOf(user: User): readonly string[] | Promise<readonly string[]>
}

/**
 * Adds limits for roles and single users to a limiter. Returns the middleware that serves the script of the add-on's
 * panel.
 *
 * The limits have no effect without a license. Mount the middleware at the root:
 * `app.use(roleLimits(limiter, { … }))`.
 *
 * @throws Error if the limiter has no `host`.
 */
export function roleLimits<User>(limiter: Sessmgr, { vendor, roles, rolesOf }: RoleLimitsOptions<User>): Middleware {
  const { hooks, host, options, addons } = limiter
  if (!host)
    throw new Error(
      'Role limits look up users in your application. Set the option host: sessmgr({ host: { users, can } }).',
    )

  hooks.addFilter('sessmgr_register_addon', NAME, (registered) => ({
    ...registered,
    [product.id]: {
      slug: product.slug,
      is_premium: product.is_premium,
      main_file: fileURLToPath(import.meta.url),
      public_key: Object.values(vendor.keys)[0]?.x ?? '',
    },
  }))

  const limits = createOwnLimits({
    option: registerRoleLimits(options),
    users: host.users as HostUsers<User>,
    rolesOf,
    isLicensed: () => addons.isLicensed(product.id),
  })
  const byPriority = [
    [10, limits.ofRoles],
    [11, limits.ofUser],
  ] as const
  for (const [priority, limitOf] of byPriority) {
    hooks.addFilter('sessmgr_maximum', NAME, async (maximum, userId) => (await limitOf(userId)) ?? maximum, priority)
  }

  hooks.addFilter('sessmgr_admin_script_vars', NAME, (vars) => ({
    ...vars,
    roleLimits: { roles, product: product.id },
  }))
  limiter.enqueueAdmin(SCRIPT)
  const script = readFileSync(new URL('./panel.js', import.meta.url))

  return (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead || request.url?.split('?', 1)[0] !== SCRIPT) return next()
    response.setHeader('Content-Type', 'text/javascript; charset=utf-8')
    response.setHeader('Cache-Control', 'no-cache')
    response.setHeader('X-Content-Type-Options', 'nosniff')
    response.end(request.method === 'HEAD' ? undefined : script)
  }
}
