import { it } from 'vitest'
import { expectExact, type Limit } from '../../support/better-auth-storm.ts'
import { WAYS } from '../../support/better-auth-ways.ts'

// The campaign has every way with every limit.
const OLDEST: Limit = { maximum: 2, logic: 'logout_oldest' }
const CASES: [keyof typeof WAYS, Limit][] = [
  ['email', OLDEST],
  ['email', { maximum: 1, logic: 'block' }],
  ['email', { maximum: 3, logic: 'allow' }],
  ['OAuth', OLDEST],
  ['magic link', { maximum: 2, logic: 'block' }],
]

it.each(CASES)('12 sign-ins at once by %s keep the limit %o', (name, limit) => expectExact(WAYS[name], 12, limit))
