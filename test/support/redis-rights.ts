import { readFileSync } from 'node:fs'

/** The rights that docs/stores.md names for a user of Redis, as ACL SETUSER takes them. */
export const redisRights = () => rightsIn(/ACL SETUSER .* (-@all .*)/)

/** The rights that it names for the watch. */
export const watchRights = () => rightsIn(/ACL SETUSER \w+ (\+info .*)/)

/** The rights that it names for the option `directory`. */
export const directoryRights = () => rightsIn(/ACL SETUSER \w+ (\+zadd .*)/)

function rightsIn(line: RegExp): string[] {
  const page = readFileSync(new URL('../../docs/stores.md', import.meta.url), 'utf8')
  return line.exec(page)?.[1]?.split(' ') ?? []
}
