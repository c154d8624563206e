import { inTime } from '../ground/deadline.ts'
import type { Host, HostUsers } from './host.ts'

type Method = (...given: unknown[]) => unknown

/**
 * Wraps a host so that its lookups, permission checks and attempts reject with `store_unavailable` when they take too
 * long.
 */
export function boundedHost(host: Host, deadlineMs: number): Host {
  const { users, attempts } = host

  function bounded<Owner, Name extends keyof Owner & string>(owner: Owner, path: string, ...names: Name[]) {
    const methods = names.map((name) => {
      const call: Method = async (...given) =>
        inTime(deadlineMs, path + name, (owner[name] as Method).apply(owner, given))
      return [name, call]
    })
    return Object.fromEntries(methods) as Pick<Owner, Name>
  }

  return {
    ...host,
    ...bounded(host, 'host.', 'can'),
    users: {
      ...bounded(users, 'host.users.', 'findById', 'findByEmail', 'findByLogin'),
      summary: users.summary.bind(users),
      // The admin screen does without these.
      search: users.search?.bind(users),
      url: users.url?.bind(users),
    } as HostUsers,
    attempts: attempts && bounded(attempts, 'host.attempts.', 'allow', 'failed'),
  }
}
