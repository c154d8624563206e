import type { UserId } from '../../ground/user-id.ts'
import type { HostUsers, UserSummary } from '../../host/host.ts'
import type { HostDetails } from '../../routes/people/host-details.ts'
import type { AuditEvent } from './audit-event.ts'

/** A user in a response. A deleted user has only the id. */
export type ShownUser = Pick<UserSummary, 'id'> & Partial<Pick<UserSummary, 'login' | 'display_name'>>

/** Looks up the users and the actors of events, each once. A failed lookup leaves only the id. */
export async function usersOfEvents(
  events: readonly AuditEvent[],
  users: HostUsers | undefined,
  details: Pick<HostDetails, 'userBy'>,
): Promise<(id: UserId) => ShownUser> {
  const ids = new Set(events.flatMap(({ user, actor }) => [user ?? [], actor ?? []].flat()))
  const find = async (id: UserId): Promise<ShownUser> => {
    const user = users && (await details.userBy(() => users.findById(id)))
    if (!users || user === undefined) return { id }
    const { login, display_name } = users.summary(user)
    return { id, login, display_name }
  }
  const found = await Promise.all([...ids].map((id) => find(id).catch(() => ({ id }))))
  const byId = new Map(found.map((user) => [user.id, user]))
  return (id) => byId.get(id) ?? { id }
}
