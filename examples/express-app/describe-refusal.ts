import { deviceName, type SessionRecord, type Sessmgr } from 'sessmgr'
import type { Users } from './users.ts'

/** What the login form says about a login that was refused. */
export interface Refusal {
  /** The name as it was typed, so that only the password has to be typed again. */
  username: string
  title: string
  /** Where the account is signed in. Empty unless the password was right. */
  devices: string[]
  advice: string
}

const LONGEST_NAME = 320
const MOST_DEVICES = 5
const MINUTE = 60_000

/** Describes why a login was refused, and what to do. */
export async function describeRefusal(limiter: Sessmgr, users: Users, name: string, error: unknown): Promise<Refusal> {
  const username = name.slice(0, LONGEST_NAME)
  const { code, status, message } = error as { code?: string; status?: number; message: string }
  if (code !== 'login_limit_reached') {
    // For a wrong password, Passport's message is only the name of the status.
    const title = status === 401 || status === 400 ? 'That name or password is not right.' : message
    return { username, title, devices: [], advice: '' }
  }
  // The limit is checked after the password, so the password was right, and the devices may be shown.
  const user = users.findByName(name)
  const sessions = user ? await limiter.sessions.list(user.id) : []
  const lastUsed = sessions.toSorted((one, other) => other.lastSeenAt - one.lastSeenAt)
  const devices = await Promise.all(lastUsed.slice(0, MOST_DEVICES).map(describeSession))
  const more = sessions.length - devices.length
  return {
    username,
    // With the `idle_release` setting, sessmgr's message contains the time from which a login succeeds again.
    title: message,
    devices: more > 0 ? [...devices, `and ${more} more`] : devices,
    advice: 'If you have lost one of them, ask an administrator to sign it out.',
  }
}

async function describeSession({ userAgent, lastSeenAt }: SessionRecord): Promise<string> {
  const { name } = await deviceName(userAgent)
  const minutes = Math.floor((Date.now() - lastSeenAt) / MINUTE)
  return `${name ?? 'Unknown device'}, used ${agoOf(minutes)}`
}

function agoOf(minutes: number): string {
  const format = new Intl.RelativeTimeFormat('en')
  if (minutes < 1) return 'just now'
  if (minutes < 60) return format.format(-minutes, 'minute')
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? format.format(-hours, 'hour') : format.format(-Math.floor(hours / 24), 'day')
}
