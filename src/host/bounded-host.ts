import { withDeadline } from '../ground/deadline.ts'
import { SessmgrError } from '../ground/errors.ts'
import type { Host } from './host.ts'

/** Wraps a host so that its lookups and permission checks reject with `store_unavailable` when they take too long. */
export function boundedHost(host: Host, deadlineMs: number): Host {
  const { users } = host

  async function inTime<T>(name: string, answer: T): Promise<Awaited<T>> {
    const message = `host.${name}() did not respond within ${deadlineMs} ms. Try again shortly.`
    return withDeadline(Promise.resolve(answer), deadlineMs, () => new SessmgrError('store_unavailable', message))
  }

  return {
    ...host,
    users: {
      findById: async (id) => inTime('users.findById', users.findById(id)),
      findByEmail: async (email) => inTime('users.findByEmail', users.findByEmail(email)),
      findByLogin: async (login) => inTime('users.findByLogin', users.findByLogin(login)),
      summary: (user) => users.summary(user),
      // The admin screen does without these.
      ...(users.search && { search: users.search.bind(users) }),
      ...(users.url && { url: users.url.bind(users) }),
    },
    can: async (user, capability) => inTime('can', host.can(user, capability)),
  }
}
