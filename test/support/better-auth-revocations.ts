import { admin, bearer } from 'better-auth/plugins'
import { expect } from 'vitest'
import { tokenOf } from '../../src/index.ts'
import { type AuthClient, type Cache, type Lab, PASSWORD, type Storage, startAuth } from './better-auth-lab.ts'

interface Parties extends Lab {
  /** The client whose session is revoked. */
  readonly target: AuthClient
  /** Another client of the same user. */
  readonly other: AuthClient
  /** An administrator. */
  readonly boss: AuthClient
  readonly userId: string
  readonly token: string
}

/** Every way to end a session of a user, and whether the user's other session survives. */
export const REVOCATIONS: Readonly<
  Record<string, readonly [end: (parties: Parties) => Promise<unknown>, otherLives: boolean]>
> = {
  signOut: [({ target }) => target.copy().send('/sign-out', {}), true],
  revokeSession: [({ other, token }) => other.send('/revoke-session', { token }), true],
  revokeOtherSessions: [({ other }) => other.send('/revoke-other-sessions', {}), true],
  revokeSessions: [({ other }) => other.copy().send('/revoke-sessions', {}), false],
  'change of password': [
    ({ other }) =>
      other.send('/change-password', {
        currentPassword: PASSWORD,
        newPassword: 'a new secret',
        revokeOtherSessions: true,
      }),
    true,
  ],
  deleteUser: [({ other }) => other.copy().send('/delete-user', { password: PASSWORD }), false],
  'revokeUserSession of an administrator': [
    ({ boss, token }) => boss.send('/admin/revoke-user-session', { sessionToken: token }),
    true,
  ],
  'revokeUserSessions of an administrator': [
    ({ boss, userId }) => boss.send('/admin/revoke-user-sessions', { userId }),
    false,
  ],
  ban: [({ boss, userId }) => boss.send('/admin/ban-user', { userId }), false],
  removeUser: [({ boss, userId }) => boss.send('/admin/remove-user', { userId }), false],
  'limiter.sessions.end': [({ limiter, userId, token }) => limiter.sessions.end(userId, tokenOf(token)), true],
  'limiter.sessions.endAll': [({ limiter, userId }) => limiter.sessions.endAll(userId), false],
  'site-wide logout': [({ limiter }) => limiter.sessions.logoutAllUsers(), false],
  'deletion by the application': [
    async ({ auth, token }) => (await auth.$context).internalAdapter.deleteSession(token),
    true,
  ],
  'deletion of all by the application': [
    async ({ auth, userId }) => (await auth.$context).internalAdapter.deleteUserSessions(userId),
    false,
  ],
}

export const STORAGES: readonly Storage[] = ['database', 'secondary', 'both']
export const CACHES: readonly Cache[] = ['off', 'compact', 'jwt', 'jwe']

async function start(storage: Storage, cache: Cache, isBearer: boolean): Promise<Parties> {
  const plugins = [admin(), bearer()]
  const lab = startAuth({ storage, cache, plugins, sessmgr: { settings: { maximum: 2, logic: 'block' } } })
  const [target, other, boss] = [lab.client(isBearer), lab.client(isBearer), lab.client()]
  await boss.signUp('boss')
  for (const user of lab.db.user ?? []) user.role = 'admin'
  await boss.signIn('boss')
  await target.signUp()
  await other.signIn()
  // The cache of each client is filled, and this process knows both sessions.
  for (const client of [target, other]) await client.send('/get-session')
  const { token, userId } = await target.session()
  return { ...lab, target, other, boss, token, userId }
}

/** Ends a session in one way, and expects that its next use is refused and its slot is free. */
export async function expectRevoked(way: string, storage: Storage, cache: Cache, isBearer: boolean): Promise<void> {
  const [end, otherLives] = REVOCATIONS[way] ?? []
  const parties = await start(storage, cache, isBearer)
  const { target, other, limiter, userId, client } = parties
  const answer = (await end?.(parties)) as { status?: number } | undefined
  expect([undefined, 200]).toContain(answer?.status)
  expect((await target.copy().send('/get-session')).json).toBeNull()
  expect((await target.copy().send('/list-sessions')).status).toBe(401)
  expect(await other.isLive()).toBe(otherLives)
  expect(await limiter.sessions.count(userId)).toBe(otherLives ? 1 : 0)
  const again = await client().send('/sign-in/email', { email: 'ada@site.test', password: PASSWORD })
  const ends = ['change of password', 'deleteUser', 'ban', 'removeUser']
  if (!ends.includes(way)) expect(again.status).toBe(200)
}
