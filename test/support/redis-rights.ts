import { readFileSync } from 'node:fs'

/** The rights that docs/redis.md names for a user of Redis, as ACL SETUSER takes them. */
export function redisRights(): string[] {
  const named = /^- A user with the rights for (.*?) Where you use/ms.exec(page())?.[1] ?? ''
  return ['-@all', ...[...named.matchAll(/`([A-Z]+)`/g)].map(([, name = '']) => `+${name.toLowerCase()}`)]
}

/** The rights that it names for the watch. */
export function watchRights(): string[] {
  return /`(\+info .*?)` too/.exec(page())?.[1]?.split(' ') ?? []
}

const page = () => readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8')
