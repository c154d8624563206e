/** What is stored about a user besides sessions. Missing parts take no space. */
export interface UserState {
  /** The devices from which the user has logged in, the last one at the end; see {@link withDevice}. */
  readonly devices?: string | undefined
}

/** What a login has changed in the devices of its user. */
export interface DeviceChange {
  readonly devices: string
  /** Set if the device was not known. */
  readonly newDevice?: { readonly firstEver: boolean }
}

const DAY_MS = 24 * 60 * 60_000
/** How long a device is remembered after its last login: as long as browsers keep a cookie. */
const DEVICE_DAYS = 400
/** How many devices are remembered per user. */
const MOST_DEVICES = 20
/** How many characters of its id identify a device among those of its user: 48 bits. */
const NAME_LENGTH = 8
/** Digits of a day, in base 36. */
const DAY_LENGTH = 3
const DEVICE = new RegExp(`.{${NAME_LENGTH + DAY_LENGTH}}`, 'gs')

type Device = readonly [name: string, lastDay: number]

/**
 * Adds a device as the last one.
 *
 * @param others Devices of the user's sessions, which are known even if they have been forgotten.
 */
export function withDevice(
  { devices }: UserState,
  device: string,
  others: readonly (string | null)[],
  now: number,
): DeviceChange {
  const name = device.slice(0, NAME_LENGTH).padEnd(NAME_LENGTH)
  const known = devicesIn(devices, now)
  const earlier = known.filter((one) => one[0] !== name)
  const next = devicesText([...earlier, [name, lastDayFrom(now)]])
  if (earlier.length < known.length || others.includes(device)) return { devices: next }
  return { devices: next, newDevice: { firstEver: known.length === 0 && others.every((one) => !one) } }
}

/** Returns the last day on which a device counts as known, in days since the Unix epoch. */
function lastDayFrom(now: number): number {
  return Math.floor(now / DAY_MS) + DEVICE_DAYS
}

/** Returns the devices that are remembered. None is remembered for longer than after a login at this moment. */
function devicesIn(text = '', now: number): Device[] {
  const latest = lastDayFrom(now)
  const all = (text.match(DEVICE) ?? []).map(
    (one): Device => [one.slice(0, NAME_LENGTH), Math.min(Number.parseInt(one.slice(NAME_LENGTH), 36), latest)],
  )
  return all.filter(([, lastDay]) => (lastDay + 1) * DAY_MS > now)
}

function devicesText(devices: readonly Device[]): string {
  const texts = devices.map(([name, lastDay]) => name + lastDay.toString(36).padStart(DAY_LENGTH, '0'))
  return texts.slice(-MOST_DEVICES).join('')
}

/** Returns what is left of a state now, without times in the future. Returns the same object if nothing has changed. */
export function openState<State extends UserState>(state: State, now: number): State {
  const { devices } = state
  if (devices === undefined) return state
  const text = devicesText(devicesIn(devices, now)) || undefined
  return text === devices ? state : { ...state, devices: text }
}

/** Returns when the last part of a state expires, or 0. */
export function stateExpiry({ devices }: UserState): number {
  const lastDay = devices === undefined ? Number.NaN : Number.parseInt(devices.slice(-DAY_LENGTH), 36)
  return devices === undefined ? 0 : (lastDay + 1) * DAY_MS
}
