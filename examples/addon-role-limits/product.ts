import type { OfflineAddon } from 'sessmgr/licensing'

/** What the catalogue of an application says of this add-on. */
export const product = {
  id: 7001,
  slug: 'role-limits',
  title: 'Role Limits',
  is_premium: true,
  description: 'Gives roles, and single users, limits of their own.',
} as const satisfies OfflineAddon
