import type { Logger } from '../../ground/logger.ts'
import type { HostRequest } from '../../guard/host-types.ts'

/** Knows where the REST routes are, which the admin screen calls. */
export interface RoutesWarning {
  /** Notes that the routes are mounted. */
  noteRouter(): void
  /** Notes where a call reached the routes. */
  noteCall(request: HostRequest): void
  /** Warns once, when the page is asked for, that the screen cannot reach the routes. */
  notePage(): void
}

/** Creates the warning for a screen whose routes are missing, or not below `restPath`. */
export function createRoutesWarning(restPath: string, logger: Logger): RoutesWarning {
  const places = new Set<string>()
  let isMade = false
  let warned = false

  function problem(): string | undefined {
    if (!isMade) return `The admin screen needs the REST routes: app.use('${restPath}', limiter.router()).`
    // A proxy may take away what stands before.
    const [place] = places
    if (place === undefined || [...places].some((one) => restPath.endsWith(one))) return undefined
    return (
      `The admin screen calls the REST routes below "${restPath}", and calls arrive below "${place}". ` +
      `Say where they are: sessmgr({ restPath: '${place}' }).`
    )
  }

  return {
    noteRouter() {
      isMade = true
    },
    noteCall({ baseUrl }) {
      // The first places say enough.
      if (typeof baseUrl === 'string' && places.size < 10) places.add(baseUrl)
    },
    notePage() {
      const message = warned ? undefined : problem()
      if (message === undefined) return
      warned = true
      logger.warn(message)
    },
  }
}
