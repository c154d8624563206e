import type { Logger } from '../ground/logger.ts'
import { inWords } from '../ground/option-checks.ts'
import type { Host } from './host.ts'

/** Takes exactly `true` for a yes of the application. Any other value than true and false is a no, and warned of once. */
export function strictHost(host: Host, logger: Logger): Host {
  const warned = new Set<string>()

  function isTrue(answer: unknown, question: string): boolean {
    if (typeof answer !== 'boolean' && !warned.has(question)) {
      warned.add(question)
      logger.warn(
        `${question}() answered ${inWords(answer)}, which counts as no: only true is a yes. ` +
          'Return a boolean, such as Boolean(user.isAdmin) or rows.length > 0.',
      )
    }
    return answer === true
  }

  const { users, posts, theme, attempts } = host
  return {
    users,
    posts,
    theme,
    can: async (user, capability) => isTrue(await host.can(user, capability), 'host.can'),
    attempts: attempts && {
      allow: async (attempt) => isTrue(await attempts.allow(attempt), 'host.attempts.allow'),
      failed: (attempt) => attempts.failed(attempt),
    },
  }
}
