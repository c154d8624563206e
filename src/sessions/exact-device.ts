import { DEVICE_KINDS, pairName } from './device-name.ts'
import { userAgentParts } from './user-agent-parts.ts'

/** Kinds of devices that administrators see. */
export const EXACT_KINDS = ['computer', 'phone', 'tablet', 'tv', 'program', 'unknown'] as const

/** A device, with everything that its user agent contains. */
export interface ExactDevice {
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
 * Names the device of a user agent for administrators, who need to tell versions and programs apart. A program's name is
 * what it claims.
 *
 * @param pattern How a browser and a system are named together.
 */
export async function exactDevice(userAgent: string | null, pattern: string): Promise<ExactDevice> {
  if (!userAgent) return { name: null, kind: 'unknown' }
  const { browser, version, system, type = '', isProgram } = await userAgentParts(userAgent)
  if (isProgram) {
    const [, name, number] = PROGRAM.exec(userAgent) ?? []
    return { name: joined(name, number) ?? null, kind: 'program' }
  }
  // A TV may report its system as its browser.
  const name = pairName(joined(browser, version), browser === system ? undefined : system, pattern)
  return { name, kind: KINDS[type] ?? 'unknown' }
}

function joined(name: string | undefined, version: string | undefined): string | undefined {
  return name && (version ? `${name} ${version}` : name)
}
