import { type Logger, warn } from '../ground/logger.ts'
import { inWords } from '../ground/option-checks.ts'
import type { Host } from './host.ts'

/** Wraps a host so that only `true` counts as yes. Other values that are not booleans cause one warning. */
export function strictHost(host: Host, logger: Logger): Host {
  const warned = new Set<string>()

  function isTrue(answer: unknown, question: string): boolean {
    if (typeof answer !== 'boolean' && !warned.has(question)) {
      warned.add(question)
      const problem = `${question}() returned ${inWords(answer)}, which counts as no.`
      const advice = 'Return a boolean, such as Boolean(user.isAdmin) or rows.length > 0.'
      warn(logger, 'host-must-return-a-boolean', `${problem} ${advice}`)
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
      // A rate limiter may count the attempt and reject.
      failed: (attempt) => Promise.resolve(attempts.failed(attempt)).catch(() => {}),
    },
  }
}
