import { createHash } from 'node:crypto'
import type { Request } from 'express'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Host, PasswordAttempt } from 'sessmgr'
import { placeOf } from './places.ts'
import { isLocked, type Post, type Posts } from './posts.ts'
import { createThemes } from './theme.ts'
import type { User, Users } from './users.ts'

const CAPABILITIES: Record<User['role'], readonly string[]> = {
  administrator: ['manage_options', 'edit_posts', 'read'],
  editor: ['edit_posts', 'read'],
  subscriber: ['read'],
}

/** Checks whether a user has a capability. */
export const may = (user: Pick<User, 'role'>, capability: string): boolean =>
  CAPABILITIES[user.role].includes(capability)

/** All roles that a user of the demo can have. */
export const ROLES = Object.keys(CAPABILITIES)

/** Creates the `host` option, through which sessmgr finds the demo's users, permissions and posts. */
export function createHost(users: Users, posts: Posts): Host<User, Post> {
  // Wrong passwords also count by address, because one address could otherwise fill the memory with made-up names.
  const wrongHere = new RateLimiterMemory({ keyPrefix: 'address', points: 100, duration: 60 })
  const wrongPasswords = new RateLimiterMemory({ keyPrefix: 'account', points: 10, duration: 60 })
  const addressOf = ({ ip }: PasswordAttempt) => ip ?? 'unknown'
  const accountOf = (attempt: PasswordAttempt) =>
    createHash('sha256').update(`${attempt.ip} ${attempt.name.toLowerCase()}`).digest('base64url')
  const mayGoOn = async (limiter: RateLimiterMemory, key: string) =>
    ((await limiter.get(key))?.remainingPoints ?? 1) > 0
  return {
    users: {
      findById: (id) => users.findById(Number(id)),
      findByEmail: (email) => users.findByName(email),
      findByLogin: (login) => users.findByName(login),
      summary: ({ id, login, displayName, email }) => ({ id, login, display_name: displayName, email }),
      search: (text, limit) => users.search(text, limit),
      url: ({ id }) => `/users/${id}`,
    },
    can: may,
    location: placeOf,
    posts: {
      find: (id) => posts.find(id),
      id: ({ id }) => id,
      url: ({ id }) => `/posts/${id}`,
      isPublic: ({ status }) => status === 'published',
      hasPassword: ({ password }) => password !== undefined,
      isLocked: (post, request) => isLocked(request as Request, post),
      countComments: ({ comments }) => comments.filter(({ approved }) => approved).length,
    },
    theme: createThemes(users),
    attempts: {
      allow: async (attempt) =>
        (await mayGoOn(wrongHere, addressOf(attempt))) && (await mayGoOn(wrongPasswords, accountOf(attempt))),
      failed: (attempt) =>
        Promise.allSettled([wrongHere.consume(addressOf(attempt)), wrongPasswords.consume(accountOf(attempt))]),
    },
  }
}
