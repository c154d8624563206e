import { type Logger, warnOnce } from '../ground/logger.ts'
import { decodeEnds, type EndKind } from '../limiter/ending/end-signal.ts'
import type { Token } from '../sessions/token.ts'
import type { StoreSignals } from '../stores/store-signals.ts'

const RETRY_MS = 30_000
const UNHEARD =
  'Messages from other processes about ended sessions cannot be received, so open connections close up to one sweep ' +
  'later. Allow the client to subscribe.'

/** What to do with the messages of other processes. All of them are only hints to check. */
export interface EndHints {
  ended(token: Token, kind: EndKind): void
  endedAll(): void
  missed(): void
}

/** Subscribes to the messages of other processes, and tries again if that fails. Returns how to stop. */
export function followSignals(signals: StoreSignals | undefined, hints: EndHints, logger: Logger): () => Promise<void> {
  if (!signals) return async () => {}
  const { subscribe } = signals
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let stop: (() => Promise<void>) | undefined

  function heard(message: string): void {
    const signal = isOver ? undefined : decodeEnds(message)
    if (!signal) return
    if (!signal.tokens) hints.endedAll()
    for (const token of signal.tokens ?? []) hints.ended(token, signal.kind)
  }

  async function follow(): Promise<void> {
    try {
      stop = await subscribe.call(signals, { heard, missed: hints.missed })
      // What ended before the subscription began was not heard.
      if (isOver) await stop()
      else hints.missed()
    } catch {
      if (isOver) return
      warnOnce(logger, 'open-connections', UNHEARD)
      timer = setTimeout(() => void follow(), RETRY_MS).unref()
    }
  }

  void follow()
  return async () => {
    isOver = true
    clearTimeout(timer)
    await stop?.()
  }
}
