import { BoundedMap } from '../ground/bounded-map.ts'

/** The kind of device that a session is on, or null if unknown. */
export type DeviceKind = 'computer' | 'phone' | 'tablet' | 'program' | null

/** A readable description of a device. */
export interface DeviceName {
  /** Browser and system, such as "Chrome on Windows", or null if unknown. */
  readonly name: string | null
  /** The kind of device. */
  readonly kind: DeviceKind
}

/** Kinds of devices, by Bowser's type of platform. */
const DEVICE_KINDS: Readonly<Record<string, NonNullable<DeviceKind>>> = {
  desktop: 'computer',
  mobile: 'phone',
  tablet: 'tablet',
  bot: 'program',
}

/**
 * Returns the name and kind of a user agent's device. Names come from fixed lists, never from the user agent itself.
 *
 * @param pattern How a browser and a system are named together.
 *
 * @example
 * ```ts
 * const { name } = await deviceName(session.userAgent) // 'Chrome on Windows'
 * ```
 */
export async function deviceName(userAgent: string | null, pattern = '{browser} on {system}'): Promise<DeviceName> {
  if (!userAgent) return { name: null, kind: null }
  const { browser, system, type = '', isProgram } = await userAgentParts(userAgent)
  const kind = isProgram ? 'program' : (DEVICE_KINDS[type] ?? null)
  return { name: pairName(browser, system, pattern), kind }
}

/** Combines the names of a browser and a system, or returns the one that is known. */
function pairName(browser: string | undefined, system: string | undefined, pattern: string): string | null {
  if (!browser || !system) return browser ?? system ?? null
  return pattern.replace(/\{(browser|system)\}/g, (_, part) => (part === 'browser' ? browser : system))
}

/** Kinds of devices that administrators see. */
export const EXACT_KINDS = ['computer', 'phone', 'tablet', 'tv', 'program', 'unknown'] as const

/** A device, as administrators see it. */
interface ExactDevice {
  /** Browser with its version, and system, such as "Chrome 142 on Windows"; or a program, such as "curl 8". */
  readonly name: string | null
  readonly kind: (typeof EXACT_KINDS)[number]
}

const KINDS: Readonly<Record<string, ExactDevice['kind']>> = {
  ...DEVICE_KINDS,
  tv: 'tv',
}

/** Name and version at the start of a program's user agent, such as "backup-script/1.0". */
const PROGRAM = /^([\w.-]{1,40})(?:\/(\d{1,6}))?(?![\w-])/

/**
 * Returns the name and kind of a user agent's device for administrators, who need to tell versions and programs apart.
 * A program's name is whatever its user agent claims.
 *
 * @param pattern How a browser and a system are named together.
 */
export async function exactDevice(userAgent: string | null, pattern: string): Promise<ExactDevice> {
  if (!userAgent) return { name: null, kind: 'unknown' }
  const { browser, version, system, type = '', isProgram } = await userAgentParts(userAgent)
  if (isProgram) {
    const [, name, number] = PROGRAM.exec(userAgent) ?? []
    return { name: pairName(joined(name, number), system, pattern), kind: 'program' }
  }
  // A TV may report its system as its browser.
  const name = pairName(joined(browser, version), browser === system ? undefined : system, pattern)
  return { name, kind: KINDS[type] ?? 'unknown' }
}

function joined(name: string | undefined, version: string | undefined): string | undefined {
  return name && (version ? `${name} ${version}` : name)
}

/** Models whose name is shown instead of the system's. */
const MODELS: readonly unknown[] = ['iPhone', 'iPad']

const LONGEST = 512

/** A parsed user agent. Names come from fixed lists, so no part of the user agent itself is among them. */
interface UserAgentParts {
  readonly browser: string | undefined
  /** Major version of the browser. */
  readonly version: string | undefined
  readonly system: string | undefined
  /** Type of the device: desktop, mobile, tablet, tv or bot. */
  readonly type: string | undefined
  /** Whether this is a program that does not claim to be a browser, such as an app. It has no `browser`. */
  readonly isProgram: boolean
}

/**
 * Parsed user agents, kept because most logins come from the same few, and parsing one takes as long as the rest of a
 * login.
 */
const known = new BoundedMap<string, UserAgentParts>(500)

/** Parses a user agent. */
async function userAgentParts(userAgent: string): Promise<UserAgentParts> {
  const text = userAgent.slice(0, LONGEST)
  return known.get(text) ?? takeApart(text)
}

async function takeApart(userAgent: string): Promise<UserAgentParts> {
  // Loaded on demand, because it is large and few requests need it.
  const { default: Bowser } = await import('bowser')
  const { browser, os, platform } = Bowser.parse(userAgent)
  const listed = (list: Readonly<Record<string, string>>, name: string | undefined) =>
    name !== undefined && Object.values(list).includes(name) ? name : undefined
  const model = MODELS.includes(platform.model) ? platform.model : undefined
  // All browsers' user agents have started this way for thirty years. Bowser also takes other programs for one.
  const isProgram = !/^(Mozilla|Opera)\//.test(userAgent)
  const parts = {
    browser: isProgram ? undefined : listed(Bowser.BROWSER_MAP, browser.name),
    version: /^\d{1,6}/.exec(browser.version ?? '')?.[0],
    system: model ?? listed(Bowser.OS_MAP, os.name),
    type: platform.type,
    isProgram,
  }
  known.set(userAgent, parts)
  return parts
}
