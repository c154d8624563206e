import { withDeadline } from '../ground/deadline.ts'
import { SessmgrError } from '../ground/errors.ts'
import { type Logger, logFailureOnce, warn } from '../ground/logger.ts'
import { inWords } from '../ground/option-checks.ts'
import type { Host, HostUsers } from './host.ts'

/** Wraps a host so that only `true` counts as yes. Warns about values that are not booleans. */
export function strictHost(host: Host, logger: Logger): Host {
  function isTrue(answer: unknown, question: string): boolean {
    if (typeof answer !== 'boolean') {
      const problem = `${question}() returned ${inWords(answer)}, which counts as no.`
      const advice = 'Return a boolean, such as Boolean(user.isAdmin) or rows.length > 0.'
      warn(logger, 'rest-routes-refuse-users', `${problem} ${advice}`)
    }
    return answer === true
  }

  const { users, posts, theme, attempts } = host
  return {
    users,
    posts,
    theme,
    location: host.location && ((ip) => host.location?.(ip)),
    can: async (user, capability) => isTrue(await host.can(user, capability), 'host.can'),
    attempts: attempts && {
      allow: async (attempt) => isTrue(await attempts.allow(attempt), 'host.attempts.allow'),
      // Some rate limiters reject when they count an attempt.
      failed: (attempt) => Promise.resolve(attempts.failed(attempt)).catch(() => {}),
    },
  }
}

type Method = (...given: unknown[]) => unknown

/**
 * Wraps a host so that its lookups, permission checks and attempts reject with `store_unavailable` when they take too
 * long, and are logged the first time.
 */
export function boundedHost(host: Host, deadlineMs: number, logger: Logger): Host {
  const { users, attempts } = host

  function bounded<Owner, Name extends keyof Owner & string>(owner: Owner, path: string, ...names: Name[]) {
    const methods = names.map((name) => {
      const call: Method = async (...given) => {
        const answer = Promise.resolve((owner[name] as Method).apply(owner, given))
        return withDeadline(answer, deadlineMs, () => {
          const message = `${path}${name}() did not respond within ${deadlineMs} ms.`
          logFailureOnce(logger, `${message} Requests that need it fail.`)
          return new SessmgrError('store_unavailable', `${message} Try again shortly.`)
        })
      }
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
      // Without a deadline, because the admin screen works without `search` and `url`.
      search: users.search?.bind(users),
      url: users.url?.bind(users),
    } as HostUsers,
    attempts: attempts && bounded(attempts, 'host.attempts.', 'allow', 'failed'),
  }
}
