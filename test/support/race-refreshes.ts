import { setTimeout as sleep } from 'node:timers/promises'
import { type Sessmgr, type SessmgrStore, sessmgr, tokenOf } from '../../src/index.ts'
import { type TokenClaims, type TokenSessions, tokenSessions } from '../../src/jwt.ts'

/** Either side begins up to this much later, so that each comes first at times. */
const MOST_AHEAD_MS = 8

const sign = (claims: TokenClaims) => claims

/** The process that ends sessions. Another one on the same data refreshes. */
interface Other {
  readonly other: Sessmgr
  readonly others: TokenSessions
}

/** Ways in which the session of claims ends, by the other process. */
export const ENDS: Readonly<Record<string, (sides: Other, claims: TokenClaims) => Promise<unknown>>> = {
  end: ({ other }, { sub, sid }) => other.sessions.end(sub, tokenOf(sid)),
  endAll: ({ other }, { sub }) => other.sessions.endAll(sub),
  endOthers: async (sides, { sub }) => {
    const kept = await loginOf(sides.others, sub)
    await sides.other.sessions.endOthers(sub, tokenOf(kept.sid))
  },
  'a site-wide logout': ({ other }) => other.sessions.logoutAllUsers(),
  displacement: ({ others }, { sub }) => Promise.all([loginOf(others, sub), loginOf(others, sub)]),
  logout: ({ others }, claims) => others.logout(claims),
  // Within a grace period, older tokens are repeated.
  reuse: ({ other }, claims) => tokenSessions(other, { graceMs: 0 }).refresh({ ...claims, rot: claims.rot - 2 }, sign),
  erasure: ({ other }, { sub }) => other.eraseUser(sub),
}

async function loginOf(tokens: TokenSessions, userId: string): Promise<TokenClaims> {
  const admission = await tokens.login({ userId }, sign)
  if (!admission.admitted) throw new Error(admission.message)
  return admission.tokens
}

/**
 * Refreshes a token while its session ends, in rounds, and returns how many tokens were live afterwards, and how many
 * refreshes came first.
 */
export async function raceRefreshes(open: () => SessmgrStore, kind: string, rounds: number) {
  const logger = { warn() {}, error() {} }
  const settings = { maximum: 2, logic: 'logout_oldest' }
  const [limiter, other] = [sessmgr({ store: open(), logger, settings }), sessmgr({ store: open(), logger, settings })]
  const tokens = tokenSessions(limiter)
  const sides = { other, others: tokenSessions(other) }
  const figures = { live: 0, first: 0 }
  let round = 0
  const work = async () => {
    while (round < rounds) await race(++round)
  }
  async function race(own: number) {
    let claims = await loginOf(tokens, `${kind} ${own}`)
    for (let number = 0; number < 2; number++) {
      const refreshed = await tokens.refresh(claims, sign)
      if (refreshed.live) claims = refreshed.tokens
    }
    const ending = sleep(Math.random() * MOST_AHEAD_MS).then(() => ENDS[kind]?.(sides, claims))
    const refreshing = sleep(Math.random() * MOST_AHEAD_MS).then(() => tokens.refresh(claims, sign))
    const [refreshed] = await Promise.all([refreshing, ending])
    if (refreshed.live) figures.first += 1
    const next = refreshed.live ? refreshed.tokens : claims
    const checks = [tokens.check(next), sides.others.check(claims), tokens.refresh(next, sign)]
    const states = await Promise.all(checks as readonly Promise<object>[])
    if (states.some((state) => 'session' in state || ('live' in state && state.live === true))) figures.live += 1
  }
  // A site-wide logout would end the sessions of other rounds as well. An erasure takes a second.
  const atOnce = kind === 'a site-wide logout' ? 1 : kind === 'erasure' ? 50 : 10
  await Promise.all(Array.from({ length: atOnce }, work))
  await Promise.all([limiter.close(), other.close()])
  return figures
}
