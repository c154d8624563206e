import { hideSessionId } from './hide-session-id.ts'
import { messageOf } from './message-of.ts'

/** Tells an error and its cause in one line for the log, without the raw session id that it was about. */
export function errorText(error: unknown, sessionId: string): string {
  const { cause } = (error ?? {}) as { cause?: unknown }
  const texts = [error, cause].filter((it) => it !== undefined).map(messageOf)
  return hideSessionId(texts.join(' '), sessionId)
}
