/** A session that the user may end to make room for a login. */
export interface ChoosableSession {
  /** Identifies the session; the hashed session id. */
  readonly token: string
  /** Browser and system, such as "Chrome on Windows". Null if unknown. */
  readonly device: string | null
  /** When the user signed in, in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** When the session was last used, in milliseconds since the Unix epoch. */
  readonly lastSeenAt: number
  /** Address of the client. Set only if the choice page shows addresses. */
  readonly ip?: string | null
}

/** What a user has to choose before a login can continue. */
export interface LoginChoice {
  /** Address of the page where the user chooses. */
  readonly url: string
  /** How many sessions must end. */
  readonly need: number
  /** How many sessions the user may have. */
  readonly maximum: number
  /** Seconds until the user has to sign in again. */
  readonly expiresIn: number
  /** The sessions to choose from, last used first. */
  readonly sessions: readonly ChoosableSession[]
  /** The secret of this login, for clients without cookies. Set only with the option `secretInBody`. */
  readonly pending?: string
}

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
