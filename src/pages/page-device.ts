import { type DeviceKind, deviceName } from '../sessions/device-name.ts'
import type { SessionRecord } from '../sessions/session-record.ts'
import type { Say } from '../texts/texts-for.ts'

/** A device, ready to display. */
export interface PageDevice {
  /** Name of the device, such as "Chrome on Windows", or a text for an unknown one. */
  readonly device: string
  /** What kind of device it is. */
  readonly kind: DeviceKind
}

/** Returns the device of a session in the reader's language. */
export async function pageDevice({ userAgent }: Pick<SessionRecord, 'userAgent'>, say: Say): Promise<PageDevice> {
  const { name, kind } = await deviceName(userAgent, say('account_device'))
  return { device: name ?? say('account_unknown'), kind }
}
