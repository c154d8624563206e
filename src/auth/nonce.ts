import type { Clock } from '../ground/clock.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { Login } from '../sessions/session-record.ts'

const TICK_MS = 12 * 60 * 60_000
const BITS = 192

/** What a nonce is valid for: one user, in one session, for one purpose. */
export interface NonceSubject extends Login {
  readonly action: string
}

/** Creates and checks nonces, which prove that a request comes from a page of this site. */
export interface Nonces {
  /** Creates a nonce for the current half-day. It is valid for 12 to 24 hours. */
  create(subject: NonceSubject): Promise<string>
  /** Checks whether a nonce was created for exactly this subject, in the current or the previous half-day. */
  verify(nonce: string, subject: NonceSubject): Promise<boolean>
}

/**
 * Creates the {@link Nonces} of a site.
 *
 * @param secrets The secrets, newest first. The first one signs; all are accepted.
 */
export function createNonces(secrets: () => Promise<readonly string[]>, clock: Clock): Nonces {
  const currentTick = () => Math.floor(clock.now() / TICK_MS)
  return {
    async create(subject) {
      const [secret = ''] = await secrets()
      return sign(secret, currentTick(), subject).toString('base64url')
    },
    async verify(nonce, subject) {
      const given = Buffer.from(nonce, 'base64url')
      if (given.length !== BITS / 8 || given.toString('base64url') !== nonce) return false
      const tick = currentTick()
      const good = (await secrets()).flatMap((secret) => [sign(secret, tick, subject), sign(secret, tick - 1, subject)])
      return good.map((expected) => nodeCrypto().timingSafeEqual(given, expected)).includes(true)
    },
  }
}

function sign(secret: string, tick: number, { userId, token, action }: NonceSubject): Buffer {
  // With JSON, different subjects cannot produce the same message.
  const message = JSON.stringify([tick, String(userId), token, action])
  return nodeCrypto()
    .createHmac('sha256', secret)
    .update(message)
    .digest()
    .subarray(0, BITS / 8)
}
