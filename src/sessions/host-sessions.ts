/** The session store of the host, as far as the limit needs it. */
export interface HostSessions {
  /** Tells whether the store still holds a session. */
  exists(sessionId: string): Promise<boolean>
  /** Deletes a session. Unknown ids are no error. */
  destroy(sessionId: string): Promise<void>
}
