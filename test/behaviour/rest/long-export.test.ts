import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Host } from '../../../src/index.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { registerSession } from '../../support/register-session.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { createRestUsers, type RestUser, restHostOf } from '../../support/rest-users.ts'

const START = 1000
const COUNT = 1000
const DORA = 5

/** How many people the application was asked for. */
let looked = 0
const staff = createRestUsers()
const users = {
  ...restHostOf(staff).users,
  findById(id: number | string): RestUser {
    if (Number(id) >= START) looked += 1
    const known = staff.find((user) => user.id === Number(id))
    return known ?? { id: Number(id), login: `user${id}`, role: 'subscriber' }
  },
  // So long that ten pages do not fit into what a connection buffers.
  summary: ({ id, login }: RestUser) => ({ id, login, display_name: id < START ? login : 'x'.repeat(20_000) }),
}
let isRemoved = false
let checks = 0
const can: Host['can'] = (user, capability) => {
  checks += 1
  return (user as RestUser).id === DORA && !isRemoved && capability === 'manage_options'
}
const host = forThisFile(() => startRestHost({ host: { users, can } as Partial<Host> }))
const people = Array.from({ length: COUNT }, (_, index) => ({ userId: START + index, at: Date.now() - index, live: 1 }))
beforeAll(async () => {
  for (const { userId } of people) await registerSession(host, userId)
})

/** By how many milliseconds the clock has gone on, which otherwise stands still. */
let late = 0
beforeEach(async () => {
  await host.registry.people.note(people)
  const start = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => start + late)
})
afterEach(() => {
  isRemoved = false
  late = 0
  vi.restoreAllMocks()
})

/** Opens a download, and waits until nothing more is prepared for a client that does not read. */
async function open(headers: Record<string, string>): Promise<IncomingMessage> {
  looked = 0
  checks = 0
  const url = `${host.origin}/api/sessmgr/v1/people/export`
  const [answer] = (await once(get(url, { agent: false, headers }), 'response')) as [IncomingMessage]
  answer.on('error', () => {})
  let seen = -1
  const isStill = () => {
    const before = seen
    seen = looked
    return before === seen
  }
  await expect.poll(isStill, { timeout: 20_000, interval: 100 }).toBe(true)
  expect([answer.statusCode, looked < COUNT]).toEqual([200, true])
  return answer
}

/** Reads a download to its end. */
async function readOn(answer: IncomingMessage): Promise<boolean> {
  answer.resume()
  await new Promise((resolve) => answer.once('close', resolve))
  return answer.complete
}

describe('rule 60: a slow export', () => {
  it('arrives whole for an administrator, who is checked at most once a second', async () => {
    const answer = await open(await host.scriptOf('dora'))
    const before = checks
    late = 2000
    expect(await readOn(answer)).toBe(true)
    expect([looked, before, checks]).toEqual([COUNT, 1, 2])
  })

  it.each(['the capability', 'the session', 'the application password'])(
    'ends with the page under way for one who has lost %s',
    async (lost) => {
      const { token, headers: ofPage } = await host.signIn('dora')
      const isScript = lost === 'the application password'
      const answer = await open(isScript ? await host.scriptOf('dora') : ofPage)
      const before = looked
      if (lost === 'the capability') isRemoved = true
      else if (lost === 'the session') await host.limiter.sessions.end(DORA, token)
      else for (const { id } of await host.limiter.passwords.list(DORA)) await host.limiter.passwords.revoke(DORA, id)
      late = 2000
      expect(await readOn(answer)).toBe(false)
      expect(looked).toBe(before)
    },
  )
})
