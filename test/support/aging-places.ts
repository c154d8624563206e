import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { UserId } from '../../src/ground/user-id.ts'
import { redisStore } from '../../src/redis.ts'
import { type StoredSession, type Token, tokenOf } from '../../src/sessions/session-record.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import type { SessmgrStore } from '../../src/stores/store.ts'
import { ownFolder } from './own-folder.ts'
import { connectRedis, type NodeRedis } from './redis-client.ts'
import { namedUser, rewriteUser, writtenUser } from './redis-rows.ts'
import { startRedis } from './redis-server.ts'
import { SQLITE_ENGINES } from './sqlite-engines.ts'

/** A database that several processes share for one test. */
export interface AgingPlace {
  /** Where other processes find it. */
  readonly place: { readonly path: string } | { readonly url: string }
  /** The same data, as read by this process. */
  readonly store: SessmgrStore
  /**
   * Sets back when a session was last used, because the clocks of real processes cannot be set forward. Resolves to
   * false if the session has ended, or changes at this moment.
   */
  age(session: StoredSession, ms: number): Promise<boolean>
}

/** Sets back when a session in Redis was last used. Resolves to false if there is none, or it changes at this moment. */
export async function ageInRedis(client: NodeRedis, userId: UserId, token: Token, ms: number): Promise<boolean> {
  let isThere = false
  const isWritten = await rewriteUser(client, userId, ({ s }) => {
    const session = s.find(({ i }) => tokenOf(i) === token)
    isThere = session !== undefined
    if (session) setBack(session, ms)
  })
  return isThere && isWritten
}

/** Sets back a use, which is stored as a distance from the admission, as the expiry is from the use. */
function setBack(session: { l: number; x: number }, ms: number): void {
  session.l -= ms
  session.x += ms
}

/** Opens databases for processes, in which sessions can be made to look unused. */
export const AGING_PLACES: Readonly<Record<string, () => Promise<AgingPlace>>> = {
  async Redis() {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const client = await connectRedis(server.url)
    onTestFinished(() => client.destroy())
    return {
      place: { url: server.url },
      store: redisStore({ client }),
      age: ({ record: { userId, token } }, ms) => ageInRedis(client, userId, token, ms),
    }
  },
  async SQLite() {
    const directory = ownFolder()
    const path = join(directory, 'sessmgr.db')
    const store = sqliteStore({ path, deadlineMs: 60_000 })
    onTestFinished(() => store.close())
    // Creates the table.
    await store.epoch.current()
    const database = new (SQLITE_ENGINES.libsql as NonNullable<typeof SQLITE_ENGINES.libsql>)(path)
    onTestFinished(() => void database.close())
    database.exec('PRAGMA busy_timeout = 60000')
    const select = database.prepare('SELECT revision, body FROM sessmgr WHERE id = ?')
    const update = database.prepare(
      "UPDATE sessmgr SET revision = 'aged.' || revision, body = ? WHERE id = ? AND revision = ?",
    )
    return {
      place: { path },
      store,
      async age({ sessionId, record: { userId } }, ms) {
        const id = `u:${userId}`
        const { revision, body } = select.all(id)[0] as { revision: string; body: string }
        const document = namedUser(body)
        const written = document.s.find(({ i }) => i === sessionId)
        if (!written) return false
        setBack(written, ms)
        return update.run(writtenUser(document), id, revision).changes === 1
      },
    }
  },
}
