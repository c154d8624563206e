import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { APIError } from 'better-auth/api'
import { multiSession } from 'better-auth/plugins'
import { expect, it } from 'vitest'
import { countLive, type LabOptions, startAuth } from '../support/better-auth-lab.ts'
import { ROOT } from './pages.ts'

const MAXIMUM = 2

interface Call {
  readonly context: {
    readonly internalAdapter: {
      listSessions(userId: string): Promise<{ token: string }[]>
      deleteSession(token: string): Promise<void>
    }
  }
}

/** What better-auth's own answers recommend: to count the sessions in a hook before one is created. */
function advice(act: (sessions: readonly { token: string }[], call: Call) => Promise<void>): LabOptions {
  const before = async ({ userId }: { userId: string }, given: unknown) => {
    const call = given as Call
    await act(await call.context.internalAdapter.listSessions(userId), call)
  }
  return { limit: false, auth: { databaseHooks: { session: { create: { before } } } } }
}

const limited = (logic: 'logout_oldest' | 'block'): LabOptions => ({
  sessmgr: { settings: { maximum: MAXIMUM, logic } },
})

/** The rows of the table, in its order. */
const CONFIGURATIONS: readonly LabOptions[] = [
  advice(async (sessions) => {
    if (sessions.length >= MAXIMUM) throw new APIError('FORBIDDEN', { message: 'Too many sessions' })
  }),
  advice(async (sessions, { context }) => {
    for (const { token } of sessions.slice(MAXIMUM - 1)) await context.internalAdapter.deleteSession(token)
  }),
  { limit: false, plugins: [multiSession({ maximumSessions: MAXIMUM })] },
  limited('logout_oldest'),
  limited('block'),
]

it('the comparison at the top of docs/better-auth.md is what the installed version does', async () => {
  const page = readFileSync(join(ROOT, 'docs/better-auth.md'), 'utf8')
  const told = [...page.matchAll(/^\| .* \| +(\d+) \|$/gm)].map(([, live]) => Number(live))
  const live: number[] = []
  for (const configuration of CONFIGURATIONS) {
    const { client } = startAuth(configuration)
    const first = client()
    await first.signUp()
    await first.send('/sign-out', {})
    const clients = Array.from({ length: 20 }, () => client())
    await Promise.all(clients.map((each) => each.signIn()))
    live.push(await countLive(clients))
  }
  expect(live).toEqual(told)
})
