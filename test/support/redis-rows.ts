import { rowKey } from '../../src/stores/document/document-rows.ts'
import type { NodeRedis } from './redis-client.ts'

/** A session as stored in Redis. */
export interface WrittenSession {
  readonly i: string
  a: number
  l: number
  x: number
  /** Address, user agent, generation, device, whether the user's id is a number, rotation. */
  readonly rest: readonly unknown[]
}

/** A user's sessions as stored in Redis. */
export interface WrittenUser {
  s: WrittenSession[]
  readonly e?: string
}

/** Returns the key of a user's row. */
export const userKey = (userId: number | string, prefix = 'sessmgr:') => prefix + rowKey('user', String(userId))

/** Returns the text of a stored row, without the names of its last writes. */
export const textOf = (stored: string | null) => stored?.slice(stored.indexOf(' ') + 1)

/** Decodes the text of a user's row, and gives the parts of its sessions names. */
export function namedUser(text: string): WrittenUser {
  const { s, ...others } = JSON.parse(text)
  let at = 0
  const named = s.map(([i, a, l, x, ...rest]: [string, number, number, number]) => {
    at += a
    return { i, a: at, l, x, rest }
  })
  return { s: named, ...others }
}

/** The reverse of {@link namedUser}. */
export function writtenUser({ s, ...others }: WrittenUser): string {
  const written = s.map(({ i, a, l, x, rest }, index) => [i, a - (s[index - 1]?.a ?? 0), l, x, ...rest])
  return JSON.stringify({ s: written, ...others })
}

/** Reads a user's row. Resolves to undefined if there is none, or an empty one. */
export async function readUser(client: NodeRedis, userId: number | string): Promise<WrittenUser | undefined> {
  const text = textOf(await client.get(userKey(userId)))
  return text ? namedUser(text) : undefined
}

/** Rewrites a user's row, as if it had always been so. Its lifetime stays. Resolves to false if there is none. */
export async function rewriteUser(
  client: NodeRedis,
  userId: number | string,
  rewrite: (user: WrittenUser) => unknown,
): Promise<boolean> {
  const key = userKey(userId)
  const stored = await client.get(key)
  const text = textOf(stored)
  if (!stored || !text) return false
  const user = namedUser(text)
  rewrite(user)
  const names = stored.slice(0, stored.indexOf(' '))
  // Unless it was written in between.
  const script = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
    return 1`
  return (await client.eval(script, { keys: [key], arguments: [stored, `${names} ${writtenUser(user)}`] })) === 1
}

/** Rewrites the only session of a user. Resolves to false if there is none, or the row has changed meanwhile. */
export function rewriteSession(
  client: NodeRedis,
  userId: number | string,
  rewrite: (session: WrittenSession) => unknown,
): Promise<boolean> {
  return rewriteUser(client, userId, ({ s: [session] }) => session && rewrite(session))
}
