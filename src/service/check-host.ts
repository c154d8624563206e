import { invalidOption } from '../ground/invalid-option.ts'
import type { Host } from '../host/host.ts'

const COMMENTS_ALONE = 'For the lazy comments alone, without users, there is createLazyComments() of sessmgr/comments'

/**
 * Checks once, at the start, that the application tells of its users all that sessmgr asks for.
 *
 * @throws SessmgrError `invalid_option` naming what is missing.
 */
export function checkHost(host: Host | undefined): Host | undefined {
  if (host === undefined) return undefined
  if (!host?.users) {
    const advice = host?.posts || host?.theme ? `. ${COMMENTS_ALONE}` : ''
    const needed = '"host" must tell of the users and who may do what: sessmgr({ host: { users, can } })'
    throw invalidOption(needed + advice)
  }
  for (const method of ['findById', 'findByEmail', 'findByLogin', 'summary'] as const) {
    if (typeof host.users[method] !== 'function') throw invalidOption(`"host.users.${method}" must be a function`)
  }
  if (typeof host.can !== 'function')
    throw invalidOption('"host.can" must be a function such as (user, capability) => boolean')
  checkAttempts(host.attempts)
  return host
}

function checkAttempts(attempts: Host['attempts']): void {
  if (attempts === undefined) return
  for (const method of ['allow', 'failed'] as const) {
    if (typeof attempts?.[method] !== 'function') {
      throw invalidOption(`"host.attempts.${method}" must be a function: "attempts" needs both, allow and failed`)
    }
  }
}
