import type { HostRequest } from '../guard/host-types.ts'
import type { SessionExchange } from '../guard/session-exchange.ts'

/** Exchanges express-session sessions. */
export const expressExchange: SessionExchange = {
  hidesMarkers: true,
  exchange: ({ session }) =>
    new Promise((resolve, reject) => {
      session?.regenerate((error) => (error ? reject(error) : resolve()))
    }),
  async putBack(request: HostRequest, sessionId, data) {
    // Set first, even if the store fails, because the id of the refused session must not reach the browser.
    request.sessionID = sessionId
    if (data) request.sessionStore?.createSession(request, data)
  },
}
