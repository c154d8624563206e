import { hideSessionId } from './hide-session-id.ts'

/** Tells an error and its cause in one line for the log, without the raw session id that it was about. */
export function errorText(error: unknown, sessionId: string): string {
  const { cause } = (error ?? {}) as { cause?: unknown }
  const texts = [error, cause]
    .filter((it) => it !== undefined)
    .map((it) => (it instanceof Error ? it.message : String(it)))
  return hideSessionId(texts.join(' '), sessionId)
}
