import type { Host } from '../../src/index.ts'

/** A user of the REST tests. */
export interface RestUser {
  readonly id: number
  readonly login: string
  role: 'administrator' | 'editor' | 'subscriber'
}

const CAPABILITIES: Record<RestUser['role'], readonly string[]> = {
  administrator: ['manage_options', 'edit_posts', 'read'],
  editor: ['edit_posts', 'read'],
  subscriber: ['read'],
}

/** Creates the users of one application. The login of the last one is not the id of any user. */
export function createRestUsers(): RestUser[] {
  return [
    { id: 1, login: 'admin', role: 'administrator' },
    { id: 2, login: 'alice', role: 'subscriber' },
    { id: 3, login: 'bob', role: 'subscriber' },
    { id: 4, login: 'carol', role: 'editor' },
    { id: 5, login: 'dora', role: 'administrator' },
    { id: 6, login: '777', role: 'subscriber' },
  ]
}

/** Returns the option `host` with these users. E-mail addresses are `<login>@example.test`. */
export function restHostOf(users: readonly RestUser[], attempts?: Host['attempts']): Host<RestUser> {
  const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
  return {
    users: {
      findById: (id) => users.find((user) => user.id === Number(id)),
      findByEmail: (email) => users.find((user) => same(`${user.login}@example.test`, email)),
      findByLogin: (login) => users.find((user) => same(user.login, login)),
      summary: ({ id, login }) => ({ id, login, display_name: login.toUpperCase() }),
    },
    can: ({ role }, capability) => CAPABILITIES[role].includes(capability),
    attempts,
  }
}
