import type { Request } from 'express'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Host } from 'sessmgr'
import { isLocked, type Post, type Posts } from './posts.ts'
import { createThemes } from './theme.ts'
import type { User, Users } from './users.ts'

const CAPABILITIES: Record<User['role'], readonly string[]> = {
  administrator: ['manage_options', 'edit_posts', 'read'],
  editor: ['edit_posts', 'read'],
  subscriber: ['read'],
}

/** Reports whether a user may do something. */
export const may = (user: Pick<User, 'role'>, capability: string): boolean =>
  CAPABILITIES[user.role].includes(capability)

/** Every role that a user of the demo can have. */
export const ROLES = Object.keys(CAPABILITIES)

/** Tells sessmgr about the demo's users, what they may do, and its posts. */
export function createHost(users: Users, posts: Posts): Host<User, Post> {
  const wrongPasswords = new RateLimiterMemory({ points: 10, duration: 60 })
  const keyOf = ({ ip, name }: { ip: string | null; name: string }) => `${ip} ${name.toLowerCase()}`
  return {
    users: {
      findById: (id) => users.findById(Number(id)),
      findByEmail: (email) => users.findByName(email),
      findByLogin: (login) => users.findByName(login),
      summary: ({ id, login, displayName }) => ({ id, login, display_name: displayName }),
    },
    can: may,
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
      allow: async (attempt) => ((await wrongPasswords.get(keyOf(attempt)))?.remainingPoints ?? 1) > 0,
      failed: (attempt) => wrongPasswords.consume(keyOf(attempt)).catch(() => {}),
    },
  }
}
