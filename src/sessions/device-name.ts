import { BoundedMap } from '../ground/bounded-map.ts'

/** What kind of device a session is on, or null if unknown. */
export type DeviceKind = 'computer' | 'phone' | 'tablet' | 'program' | null

/** A readable description of a device. */
export interface DeviceName {
  /** Browser and system, such as "Chrome on Windows", or null if unknown. */
  readonly name: string | null
  /** What kind of device it is. */
  readonly kind: DeviceKind
}

const KINDS: Readonly<Record<string, DeviceKind>> = {
  desktop: 'computer',
  mobile: 'phone',
  tablet: 'tablet',
  bot: 'program',
}

/** Models whose name is shown instead of the system's. */
const MODELS: readonly unknown[] = ['iPhone', 'iPad']

const LONGEST = 512

/** A parsed user agent. */
interface Parts {
  readonly program: string | undefined
  readonly system: string | undefined
  readonly kind: DeviceKind
}

/** Most logins come from the same few user agents, and parsing one takes as long as the rest of a login. */
const known = new BoundedMap<string, Parts>(500)

/**
 * Names the device of a user agent. All names come from fixed lists, so no part of the user agent itself is returned.
 *
 * @param pattern How a browser and a system are named together.
 */
export async function deviceName(userAgent: string | null, pattern = '{browser} on {system}'): Promise<DeviceName> {
  if (!userAgent) return { name: null, kind: null }
  const text = userAgent.slice(0, LONGEST)
  const { program, system, kind } = known.get(text) ?? (await takeApart(text))
  if (!program || !system) return { name: program ?? system ?? null, kind }
  return { name: pattern.replace(/\{(browser|system)\}/g, (_, part) => (part === 'browser' ? program : system)), kind }
}

async function takeApart(userAgent: string): Promise<Parts> {
  // Loaded on demand, because it is large and few requests need it.
  const { default: Bowser } = await import('bowser')
  const { browser, os, platform } = Bowser.parse(userAgent)
  const listed = (list: Readonly<Record<string, string>>, name: string | undefined) =>
    name !== undefined && Object.values(list).includes(name) ? name : undefined
  const model = MODELS.includes(platform.model) ? platform.model : undefined
  const [program, system] = [listed(Bowser.BROWSER_MAP, browser.name), model ?? listed(Bowser.OS_MAP, os.name)]
  // All browsers have started this way for thirty years.
  const isProgram = !program && !system && !/^(Mozilla|Opera)\//.test(userAgent)
  const parts = { program, system, kind: isProgram ? 'program' : (KINDS[platform.type ?? ''] ?? null) }
  known.set(userAgent, parts)
  return parts
}
