import { readFileSync } from 'node:fs'

/** The rights that docs/redis.md names for a user of Redis, as ACL SETUSER takes them. */
export function redisRights(): string[] {
  const page = readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8')
  const named = /^- A user with the rights for (.*?) Where you use/ms.exec(page)?.[1] ?? ''
  return ['-@all', ...[...named.matchAll(/`([A-Z]+)`/g)].map(([, name = '']) => `+${name.toLowerCase()}`)]
}
