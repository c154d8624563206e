import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type CalledProcess, startCalled } from './called-process.ts'
import { ownFolder } from './own-folder.ts'
import { startPostgres } from './postgres-server.ts'
import { startRedis } from './redis-server.ts'

const MAXIMUM = 2

type Worker = CalledProcess<{ readonly cookie?: string }>

/** Where the sessions and the limiter's data are. */
export const PLACES = {
  async redis() {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    return server.url
  },
  async sqlite() {
    const folder = ownFolder()
    return join(folder, 'sessmgr.db')
  },
  async postgres() {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    return server.host
  },
}

/** Signs in `logins` times in each of three processes, kills one of them meanwhile, and expects an exact limit. */
export async function expectExactProcesses(kind: keyof typeof PLACES, logins: number): Promise<void> {
  const place = await PLACES[kind]()
  const start = async (isFirst: boolean): Promise<Worker> => {
    const setup = { kind, place, isFirst, logins, inFlight: 20, maximum: MAXIMUM }
    const worker = await startCalled<{ cookie?: string }>('better-auth-process.mjs', setup)
    onTestFinished(() => worker.kill())
    return worker
  }
  const [first, second, victim] = [await start(true), await start(false), await start(false)]
  const cookies = () => [first, second, victim].flatMap(({ told }) => told.flatMap(({ cookie = [] }) => cookie))
  const signingIn = [first, second].map((worker) => worker.call('signIn'))
  victim.call('signIn').catch(() => {})
  await victim.until(({ length }) => length > logins / 3)
  await victim.kill()
  expect(await Promise.all(signingIn)).toEqual([{ 200: logins }, { 200: logins }])
  const { live, slots } = await first.call<{ live: number; slots: number }>('count', { cookies: cookies() })
  // A session of the killed process may be registered although nobody has received its cookie.
  expect([live, slots]).toSatisfy(([found, taken]) => found > 0 && found <= taken && taken <= MAXIMUM)
  // A slot whose session nobody has is taken over by later logins.
  expect(await first.call('signIn')).toEqual({ 200: logins })
  expect(await first.call('count', { cookies: cookies() })).toEqual({ live: MAXIMUM, slots: MAXIMUM })
}
