import { guardedRequestOf, type RequestLike } from '../guard/request/host-visit.ts'
import type { HostedStore } from '../guard/session-exchange.ts'
import { touchInterval } from '../guard/session-ttl.ts'
import type { ServiceCore } from '../service/service-core.ts'

/** Returns what to call when a client has used its session. Records that at most once per `touchEvery`. */
export function noteUse({ storeOf, options }: ServiceCore, message: RequestLike): () => void {
  const request = guardedRequestOf(message)
  const { session, sessionID } = request
  let stored: HostedStore
  try {
    stored = storeOf(request)
  } catch {
    // With explicit calls, only the application can touch its sessions.
    return () => {}
  }
  if (!session || sessionID === undefined) return () => {}
  let freshUntil = performance.now() + touchInterval(session, options.touchEveryMs)
  return () => {
    const now = performance.now()
    if (now < freshUntil) return
    freshUntil = now + touchInterval(session, options.touchEveryMs)
    // Moves the expiry of the cookie, from which the lifetime is read.
    ;(session as { touch?: () => void }).touch?.()
    void stored.guard.touch(sessionID, session, false)
  }
}
