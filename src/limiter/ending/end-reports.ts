import { setImmediate as nextTurn } from 'node:timers/promises'
import { withDeadline } from '../../ground/deadline.ts'
import { type Logger, warnOnce } from '../../ground/logger.ts'
import type { SessionEnd } from '../../sessions/session-end.ts'
import type { SessionRecord, StoredSession } from '../../sessions/session-record.ts'
import type { Token } from '../../sessions/token.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import { type EndKind, encodeEnds } from './end-signal.ts'

/** Called with a session that this process has ended, or without one after a site-wide logout. Must not throw. */
export type EndListener = (session?: SessionRecord, kind?: EndKind) => void

/** Reports the sessions that this process ends, without waiting for anyone. */
export interface EndReports {
  /** Calls a listener for each end, before the call that ends the session resolves. Returns how to stop that. */
  listen(listener: EndListener): () => void
  report(ended: readonly StoredSession[], endOf: (session: SessionRecord) => SessionEnd): void
  reportAll(): void
}

export interface ReportParts {
  readonly store: Pick<SessmgrStore, 'signals'>
  readonly logger: Logger
  readonly deadlineMs: number
}

const UNSENT =
  'Other processes could not be notified that sessions have ended, so they close their open connections later.'

/** @param inBackground Receives the work that `close()` waits for. */
export function createEndReports(
  { store: { signals }, logger, deadlineMs }: ReportParts,
  inBackground: (work: Promise<void>) => void,
): EndReports {
  const listeners = new Set<EndListener>()
  const unsent = new Map<EndKind, Token[]>()
  let siteWide = false
  let isSending = false

  /** Sends everything that has ended in this turn of the event loop together. */
  function send(): void {
    if (!signals || isSending) return
    isSending = true
    const late = () => new Error()
    const sent = nextTurn().then(async () => {
      isSending = false
      const messages = [...unsent].flatMap(([kind, tokens]) => encodeEnds({ kind, tokens }))
      if (siteWide) messages.push(...encodeEnds({ kind: 'logout_all', tokens: undefined }))
      unsent.clear()
      siteWide = false
      await Promise.all(messages.map((message) => withDeadline(signals.publish(message), deadlineMs, late)))
    })
    inBackground(
      sent.catch(() => {
        // Without open connections, nobody misses the message.
        if (listeners.size > 0) warnOnce(logger, 'open-connections', UNSENT)
      }),
    )
  }

  return {
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    report(ended, endOf) {
      for (const { record } of ended) {
        const { kind } = endOf(record)
        for (const listener of listeners) listener(record, kind)
        if (signals) unsent.set(kind, [...(unsent.get(kind) ?? []), record.token])
      }
      if (ended.length > 0) send()
    },
    reportAll() {
      for (const listener of listeners) listener()
      siteWide = true
      send()
    },
  }
}
