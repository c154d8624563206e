import { invalidOption } from '../ground/invalid-option.ts'
import { requireMethods } from '../ground/option-checks.ts'
import type { Host } from '../host/host.ts'

const NEEDS_BOTH = ': "attempts" needs both allow and failed'
const COMMENTS_ALONE = 'To use only lazy comments, without users, call createLazyComments() from sessmgr/comments'

/**
 * Checks at startup that the option `host` has all required methods.
 *
 * @throws SessmgrError `invalid_option` that names the missing one.
 */
export function checkHost(host: Host | undefined): Host | undefined {
  if (host === undefined) return undefined
  if (!host?.users) {
    const advice = host?.posts || host?.theme ? `. ${COMMENTS_ALONE}` : ''
    const needed = '"host" must have users and permissions: sessmgr({ host: { users, can } })'
    throw invalidOption(needed + advice)
  }
  requireMethods('host.users', host.users, ['findById', 'findByEmail', 'findByLogin', 'summary'])
  requireMethods('host', host, ['can'], ' such as (user, capability) => boolean')
  for (const name of ['search', 'url'] as const) {
    if (host.users[name] !== undefined) requireMethods('host.users', host.users, [name])
  }
  if (host.location !== undefined) requireMethods('host', host, ['location'])
  if (host.attempts !== undefined) requireMethods('host.attempts', host.attempts, ['allow', 'failed'], NEEDS_BOTH)
  return host
}
