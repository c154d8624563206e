import type { SessionEnd } from '../../sessions/session-end.ts'
import { TOKEN_PATTERN, type Token } from '../../sessions/session-record.ts'

/** How a session ended. */
export type EndKind = SessionEnd['kind']

/** Sessions that have ended in the same way. After a site-wide logout, `tokens` is undefined. */
export interface EndSignal {
  readonly kind: EndKind
  readonly tokens: readonly Token[] | undefined
}

/** Maximum number of tokens per message, so that a message has at most 7,000 characters. */
const MOST_TOKENS = 100
const VERSION = '1'

const KINDS: Readonly<Record<EndKind, true>> = {
  displaced: true,
  never_used: true,
  idle: true,
  chosen: true,
  user: true,
  admin: true,
  app: true,
  reused: true,
  logout_all: true,
  replaced: true,
  signed_out: true,
  lost: true,
}

/** Encodes ended sessions as messages for the store's signals. */
export function encodeEnds({ kind, tokens }: EndSignal): readonly string[] {
  if (!tokens) return [`${VERSION} ${kind}`]
  const messages: string[] = []
  for (let first = 0; first < tokens.length; first += MOST_TOKENS) {
    messages.push([VERSION, kind, ...tokens.slice(first, first + MOST_TOKENS)].join(' '))
  }
  return messages
}

/** Decodes a message. Returns undefined if it is not a valid one. */
export function decodeEnds(message: string): EndSignal | undefined {
  const [version, kind = '', ...tokens] = message.split(' ')
  if (version !== VERSION || !Object.hasOwn(KINDS, kind) || tokens.length > MOST_TOKENS) return undefined
  if (!tokens.every((token) => TOKEN_PATTERN.test(token))) return undefined
  if (tokens.length === 0 && kind !== 'logout_all') return undefined
  return { kind: kind as EndKind, tokens: tokens.length === 0 ? undefined : tokens }
}
