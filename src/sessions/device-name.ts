import { userAgentParts } from './user-agent-parts.ts'

/** What kind of device a session is on, or null if unknown. */
export type DeviceKind = 'computer' | 'phone' | 'tablet' | 'program' | null

/** A readable description of a device. */
export interface DeviceName {
  /** Browser and system, such as "Chrome on Windows", or null if unknown. */
  readonly name: string | null
  /** What kind of device it is. */
  readonly kind: DeviceKind
}

/** Kinds by the type in a user agent. */
export const DEVICE_KINDS: Readonly<Record<string, NonNullable<DeviceKind>>> = {
  desktop: 'computer',
  mobile: 'phone',
  tablet: 'tablet',
  bot: 'program',
}

/**
 * Names the device of a user agent. All names come from fixed lists, so no part of the user agent itself is returned.
 *
 * @param pattern How a browser and a system are named together.
 */
export async function deviceName(userAgent: string | null, pattern = '{browser} on {system}'): Promise<DeviceName> {
  if (!userAgent) return { name: null, kind: null }
  const { browser, system, type = '', isProgram } = await userAgentParts(userAgent)
  const kind = isProgram ? 'program' : (DEVICE_KINDS[type] ?? null)
  return { name: pairName(browser, system, pattern), kind }
}

/** Names a browser and a system together, or the one that is known. */
export function pairName(browser: string | undefined, system: string | undefined, pattern: string): string | null {
  if (!browser || !system) return browser ?? system ?? null
  return pattern.replace(/\{(browser|system)\}/g, (_, part) => (part === 'browser' ? browser : system))
}
