import { expect } from 'vitest'
import { tokenOf } from '../../src/index.ts'
import { connectRedis, type NodeRedis } from './redis-client.ts'
import { startWatched } from './watched-process.ts'

/** What reads saw whose commands Redis ran in the turn in which a session ended. */
export interface TurnFigures {
  readonly trials: number
  readonly readings: number
  /** Number of reads that found data written after the session had ended. */
  readonly changed: number
  /** Number of those that still found the session live. */
  readonly live: number
}

const READINGS = 8
// So much that replies arrive in several pieces: within one, everything is told before anything is answered.
const OVER = JSON.stringify({ isOver: true, filling: 'x'.repeat(60_000) })
// For two milliseconds; since Redis 7.2 time stands still in a script, so not for ever.
const BUSY =
  "local t = redis.call('TIME') for _ = 1, 10000 do local n = redis.call('TIME') if (n[1] - t[1]) * 1e6 + n[2] - t[2] > 2000 then break end end"

/** Ends sessions and changes their data at the same moment, so a read of the change must also see the end. */
export async function raceTurns(
  url: string,
  trials: number,
  prepare: (client: NodeRedis) => void = () => {},
): Promise<TurnFigures> {
  const client = await connectRedis(url)
  prepare(client)
  const reader = await startWatched(url, { client })
  const writer = await startWatched(url, { tracking: false })
  const other = await connectRedis(url)
  const figures = { trials, readings: 0, changed: 0, live: 0 }
  try {
    await expect.poll(() => reader.watch.whyNot(reader.sessionStore)).toBeUndefined()
    // A script that the server does not know yet is sent twice, and the change would come before the end.
    await writer.store.sessions.end('nobody')
    for (let trial = 0; trial < trials; trial++) {
      const [user, sessionId] = [`user${trial}`, `session${trial}`]
      const session = await writer.login(user, sessionId)
      while (!(await reader.ask(session, sessionId))?.isLive);
      // The end begins from what was just read, and so is one command.
      await writer.store.sessions.read(user)
      // The server runs everything that arrives while it is busy in one turn.
      const busy = other.eval(BUSY)
      await new Promise(setImmediate)
      const ended = writer.store.sessions.end(user, [tokenOf(sessionId)])
      // The change is sent after the end, over the same connection.
      await new Promise(setImmediate)
      const changed = writer.client.set(`sess:${sessionId}`, OVER)
      const readings = Array.from({ length: READINGS }, () => reader.ask(session, sessionId))
      for (const answer of await Promise.all(readings)) {
        figures.readings++
        if (!(answer?.data as { isOver?: boolean } | undefined)?.isOver) continue
        figures.changed++
        if (answer?.isLive) figures.live++
      }
      await Promise.all([busy, ended, changed])
    }
    return figures
  } finally {
    await reader.close()
    await writer.close()
    other.destroy()
  }
}

/** Makes Redis report changes as with BCAST, after the connection was accepted. */
export function broadcasting(client: NodeRedis): void {
  const { duplicate } = client
  Object.assign(client, {
    duplicate(...options: Parameters<typeof duplicate>) {
      const own = duplicate.apply(client, options)
      const send = own.sendCommand.bind(own) as (args: readonly string[]) => Promise<unknown>
      let isBroadcasting = false
      const sendCommand = async (args: readonly string[]) => {
        if (args[1] === 'CACHING' && isBroadcasting) return 'OK'
        const reply = await send(args)
        if (args[0] !== 'TIME' || isBroadcasting) return reply
        isBroadcasting = true
        await send(['CLIENT', 'TRACKING', 'OFF'])
        await send(['CLIENT', 'TRACKING', 'ON', 'BCAST'])
        return reply
      }
      return Object.assign(own, { sendCommand })
    },
  })
}
