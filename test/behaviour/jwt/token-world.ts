import { onTestFinished } from 'vitest'
import { memoryStore, type SessmgrOptions, type SessmgrStore, sessmgr } from '../../../src/index.ts'
import { type TokenClaims, type TokenSessionOptions, tokenSessions } from '../../../src/jwt.ts'
import { fakeClock } from '../../../src/testing.ts'

/** The default grace period. */
export const GRACE = 30_000

/** Signs nothing: the tokens of these tests are their claims. */
export const sign = async (claims: TokenClaims) => claims

interface Given extends SessmgrOptions {
  readonly store?: SessmgrStore
  readonly tokens?: TokenSessionOptions
}

/** Token sessions on a clock. */
export function startTokens({ tokens: options = {}, ...given }: Given = {}) {
  const clock = fakeClock()
  const { store = memoryStore({ clock }) } = given
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error() {} }
  const limiter = sessmgr({ logger, settings: { maximum: 3, logic: 'logout_oldest' }, ...given, store })
  onTestFinished(() => limiter.close())
  const tokens = tokenSessions(limiter, options)
  async function login(userId: string | number = 'ada') {
    const admission = await tokens.login({ userId, ip: '192.0.2.1', userAgent: 'test' }, sign)
    if (!admission.admitted) throw new Error(admission.message)
    return admission.tokens
  }
  async function refresh(claims: object) {
    const result = await tokens.refresh(claims, sign)
    if (!result.live) throw new Error(`over: ${result.ended.cause?.kind ?? result.ended.reason}`)
    return result.tokens
  }
  const isLive = async (claims: object) => (await tokens.check(claims)).session !== undefined
  return { clock, store, limiter, tokens, warnings, login, refresh, isLive }
}

/** What a refresh answers to a token that was used again. */
export const REUSED = { live: false, ended: { cause: { kind: 'reused' } } }
