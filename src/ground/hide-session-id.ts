/** Takes a raw session id out of a text that somebody may read. */
export function hideSessionId(text: string, sessionId: string): string {
  return text.replaceAll(sessionId || '\0', '<session id>')
}
