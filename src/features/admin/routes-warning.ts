import { type Logger, warn } from '../../ground/logger.ts'
import type { HostRequest } from '../../guard/host-types.ts'

/** Checks that the admin screen can reach the REST routes. */
export interface RoutesWarning {
  /** Records that the routes are mounted. */
  noteRouter(): void
  /** Records the path under which a call reached the routes. */
  noteCall(request: HostRequest): void
  /** Called for each request for the page. Warns once if the screen cannot reach the routes. */
  notePage(): void
}

/** Creates the check. It warns if the routes are missing or not under `restPath`. */
export function createRoutesWarning(restPath: string, logger: Logger): RoutesWarning {
  const places = new Set<string>()
  let isMade = false
  let warned = false

  function problem(): string | undefined {
    if (!isMade) return `The admin screen needs the REST routes. Mount them: app.use('${restPath}', limiter.router()).`
    // A proxy may strip a prefix.
    const [place] = places
    if (place === undefined || [...places].some((one) => restPath.endsWith(one))) return undefined
    return (
      `The admin screen calls the REST routes under "${restPath}", but calls arrive under "${place}". ` +
      `Set the path: sessmgr({ restPath: '${place}' }).`
    )
  }

  return {
    noteRouter() {
      isMade = true
    },
    noteCall({ baseUrl }) {
      if (typeof baseUrl === 'string' && places.size < 10) places.add(baseUrl)
    },
    notePage() {
      const message = warned ? undefined : problem()
      if (message === undefined) return
      warned = true
      warn(logger, 'rest-routes-not-found', message)
    },
  }
}
