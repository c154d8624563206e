import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type Answer, type AuthClient, countLive, type LabOptions, startAuth } from '../../support/better-auth-lab.ts'
import { WAYS, type Way } from '../../support/better-auth-ways.ts'

const MODES = ['logout_oldest', 'allow', 'block'] as const

interface Limit {
  readonly maximum: number
  readonly logic: (typeof MODES)[number]
}

/**
 * Counts the clients that are live at the same moment: between two rounds of requests. A session that is live in both
 * was live in between.
 */
async function countTogether(clients: readonly AuthClient[]): Promise<number> {
  const round = () => Promise.all(clients.map((client) => client.isLive()))
  const [first, second] = [await round(), await round()]
  return first.filter((isLive, index) => isLive && second[index]).length
}

/** Signs many clients in at once, and counts meanwhile how many of them are live. */
async function storm(way: Way, count: number, options: LabOptions) {
  const lab = startAuth({ latency: 1, ...options, plugins: [...way.plugins, ...(options.plugins ?? [])] })
  const owner = lab.client()
  await owner.signUp()
  // Otherwise, the first login with a link deletes all sessions, and OAuth is not linked.
  for (const user of lab.db.user ?? []) user.emailVerified = true
  // Many first sign-ins at once would link the same OAuth account twice.
  await way.signIn(owner)
  const { userId } = await owner.session()
  const signedIn = [owner]
  const answers: Answer[] = []
  let most = 0
  let isRunning = true
  const sampling = (async () => {
    for (let from = 0; isRunning; from += 5) {
      await sleep(count / 10)
      const sample = [...signedIn.slice(from % signedIn.length), ...signedIn].slice(0, 12)
      most = Math.max(most, await countTogether([...new Set(sample)]), await lab.limiter.sessions.count(userId))
    }
  })()
  const signIn = async () => {
    const client = lab.client()
    answers.push(await way.signIn(client))
    if (client.cookies.has('better-auth.session_token')) signedIn.push(client)
  }
  await Promise.all(Array.from({ length: count }, signIn))
  isRunning = false
  await sampling
  const live = await countLive(signedIn)
  return { answers, signedIn, most, live, rows: lab.rows().length, slots: await lab.limiter.sessions.count(userId) }
}

async function expectExact(start: () => Promise<Way>, count: number, { maximum, logic }: Limit): Promise<void> {
  const way = await start()
  const end = await storm(way, count, { sessmgr: { settings: { maximum, logic } } })
  const texts = end.answers.map(({ status, text, headers }) => `${status} ${headers.get('location') ?? text}`)
  const refused = way.isExclusive ? /^(400|403) / : /^(403|302 \S+login_limit_reached)/
  const unexpected = texts.filter((text) => !/^(200|302 \S*\/home$)/.test(text) && !refused.test(text))
  expect(unexpected).toEqual([])
  expect(end.most).toBeLessThanOrEqual(maximum)
  expect([end.live, end.rows]).toEqual([end.slots, end.slots])
  expect(end.live).toBeLessThanOrEqual(maximum)
  if (way.isExclusive) return
  expect(end.live).toBeGreaterThanOrEqual(logic === 'allow' ? 1 : maximum)
  // The sign-up has the first slot. All others who are not refused get a session.
  expect(end.signedIn).toHaveLength(logic === 'block' ? maximum : count + 1)
}

const LIMITS = [1, 2, 3].flatMap((maximum) => MODES.map((logic) => ({ maximum, logic })))

describe.each(Object.entries(WAYS))('sign-ins by %s', (name, start) => {
  it.each(LIMITS)('20 at once never leave more than $maximum sessions live in mode $logic', (limit) =>
    expectExact(start, 20, limit),
  )

  const some = name === 'email' ? LIMITS : LIMITS.filter(({ maximum, logic }) => maximum === 2 && logic !== 'allow')
  it.each(some)('200 at once never leave more than $maximum sessions live in mode $logic', (limit) =>
    expectExact(start, 200, limit),
  )
})
