import type { OfflineAddon } from 'sessmgr/licensing'

/** The add-on as listed in an application's catalogue. */
export const product = {
  id: 7001,
  slug: 'role-limits',
  title: 'Role Limits',
  is_premium: true,
  description: 'Sets limits for roles and for single users.',
} as const satisfies OfflineAddon
