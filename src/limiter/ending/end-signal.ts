import { setImmediate as nextTurn } from 'node:timers/promises'
import { withDeadline } from '../../ground/deadline.ts'
import { type Logger, logFailureOnce } from '../../ground/logger.ts'
import type { SessionEnd } from '../../sessions/session-end.ts'
import { type SessionRecord, TOKEN_PATTERN, type Token } from '../../sessions/session-record.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { EndedSession } from './ended-notes.ts'

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

/** Matches a kind, perhaps one of a newer release: the signal is only a hint, and the sessions are checked. */
const KIND = /^[a-z_]{1,20}$/

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
  if (version !== VERSION || !KIND.test(kind) || tokens.length > MOST_TOKENS) return undefined
  if (!tokens.every((token) => TOKEN_PATTERN.test(token))) return undefined
  if (tokens.length === 0 && kind !== 'logout_all') return undefined
  return { kind: kind as EndKind, tokens: tokens.length === 0 ? undefined : tokens }
}

/** Called with a session that this process has ended, or without one after a site-wide logout. Must not throw. */
export type EndListener = (session?: SessionRecord, kind?: EndKind) => void

interface SenderParts {
  readonly store: Pick<SessmgrStore, 'signals'>
  readonly logger: Logger
  readonly deadlineMs: number
}

const UNSENT =
  'Other processes could not be notified that sessions have ended, so they close their open connections later.'

/** Notifies listeners and other processes of ended sessions. Sends all ends of one turn of the event loop together. */
export class EndSender {
  readonly #parts: SenderParts
  readonly #inBackground: (work: Promise<void>) => void
  readonly #listeners = new Set<EndListener>()
  readonly #unsent = new Map<EndKind, Token[]>()
  #isSiteWide = false
  #isSending = false

  /** @param inBackground Receives the work that closing the limiter waits for. */
  constructor(parts: SenderParts, inBackground: (work: Promise<void>) => void) {
    this.#parts = parts
    this.#inBackground = inBackground
  }

  listen(listener: EndListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Closes the connections of an ended session, in this process and others. Does not wait. */
  close({ record, end }: EndedSession): void {
    for (const listener of this.#listeners) listener(record, end.kind)
    // Every process was already notified of the site-wide logout.
    if (end.kind === 'logout_all') return
    const tokens = this.#unsent.get(end.kind)
    if (tokens) tokens.push(record.token)
    else if (this.#parts.store.signals) this.#unsent.set(end.kind, [record.token])
    if (this.#unsent.size > 0) this.#send()
  }

  /** Announces a site-wide logout to listeners and other processes. Does not wait. */
  closeAll(): void {
    for (const listener of this.#listeners) listener()
    this.#isSiteWide = true
    this.#send()
  }

  #send(): void {
    const { store, deadlineMs, logger } = this.#parts
    const { signals } = store
    if (!signals || this.#isSending) return
    this.#isSending = true
    const late = () => new Error()
    const sent = nextTurn().then(async () => {
      this.#isSending = false
      const messages = [...this.#unsent].flatMap(([kind, tokens]) => encodeEnds({ kind, tokens }))
      if (this.#isSiteWide) messages.push(...encodeEnds({ kind: 'logout_all', tokens: undefined }))
      this.#unsent.clear()
      this.#isSiteWide = false
      await Promise.all(messages.map((message) => withDeadline(signals.publish(message), deadlineMs, late)))
    })
    this.#inBackground(
      sent.catch(() => {
        // Without open connections, nobody misses the message.
        if (this.#listeners.size > 0) logFailureOnce(logger, UNSENT)
      }),
    )
  }
}
