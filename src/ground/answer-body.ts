import type { LoginChoice } from './errors.ts'

/** Builds the JSON body of an error response. */
export function errorBody(code: string, message: string, status: number) {
  return { code, message, data: { status } }
}

/** Returns the data of a choice for the JSON body of an error response. */
export function choiceData({ url, need, maximum, expiresIn, sessions, pending }: LoginChoice) {
  const rows = sessions.map(({ token, device, createdAt, lastSeenAt, ip }) => ({
    token,
    device,
    created_at: createdAt,
    last_seen_at: lastSeenAt,
    ...(ip !== undefined && { ip }),
  }))
  return { need, maximum, expires_in: expiresIn, choice_url: url, sessions: rows, ...(pending && { pending }) }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes a string for use between tags and inside quoted attributes. */
export function htmlText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
