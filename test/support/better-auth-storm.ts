import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Answer, type AuthClient, countLive, type LabOptions, startAuth } from './better-auth-lab.ts'
import type { Way } from './better-auth-ways.ts'

/** The limit of a storm. */
export interface Limit {
  readonly maximum: number
  readonly logic: 'logout_oldest' | 'allow' | 'block'
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

/** Signs in `count` times at once in one way, and expects that the limit was never exceeded. */
export async function expectExact(start: () => Promise<Way>, count: number, { maximum, logic }: Limit): Promise<void> {
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
