/** What kind of device a session is on; null if unknown. */
export type DeviceKind = 'computer' | 'phone' | 'tablet' | 'program' | null

/** A device in words. */
export interface DeviceName {
  /** Such as "Chrome on Windows"; null if unknown. */
  readonly name: string | null
  /** What the device is. */
  readonly kind: DeviceKind
}

const KINDS: Readonly<Record<string, DeviceKind>> = {
  desktop: 'computer',
  mobile: 'phone',
  tablet: 'tablet',
  bot: 'program',
}

/** What people call a system by the device that it runs on. */
const MODELS: readonly unknown[] = ['iPhone', 'iPad']

const LONGEST = 512

/**
 * Describes a user agent in words. Names come from closed lists, so nothing of the user agent itself is returned.
 *
 * @param pattern How a browser and a system are named together.
 */
export async function deviceName(userAgent: string | null, pattern = '{browser} on {system}'): Promise<DeviceName> {
  if (!userAgent) return { name: null, kind: null }
  // Few requests need it, and it is large.
  const { default: Bowser } = await import('bowser')
  const { browser, os, platform } = Bowser.parse(userAgent.slice(0, LONGEST))
  const listed = (list: Readonly<Record<string, string>>, name: string | undefined) =>
    name !== undefined && Object.values(list).includes(name) ? name : undefined
  const model = MODELS.includes(platform.model) ? platform.model : undefined
  const [program, system] = [listed(Bowser.BROWSER_MAP, browser.name), model ?? listed(Bowser.OS_MAP, os.name)]
  const name =
    program && system
      ? pattern.replace(/\{(browser|system)\}/g, (_, part) => (part === 'browser' ? program : system))
      : (program ?? system ?? null)
  // Browsers have all begun so for thirty years.
  const isProgram = name === null && !/^(Mozilla|Opera)\//.test(userAgent)
  return { name, kind: isProgram ? 'program' : (KINDS[platform.type ?? ''] ?? null) }
}
