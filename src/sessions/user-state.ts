import { SessmgrError } from '../ground/errors.ts'
import type { StoredSession, Token } from './session-record.ts'

/** What is stored about a user besides sessions. Missing parts take no space. */
export interface UserState {
  /** The devices from which the user has logged in, the last one at the end; see {@link withDevice}. */
  readonly devices?: string | undefined
  /** When the user has done something that is allowed only so often, by name. */
  readonly counts?: Readonly<Record<string, Count>> | undefined
  /** Logins that wait until the user has chosen which sessions to end. */
  readonly pending?: readonly WaitingLogin[] | undefined
  /**
   * When the user was erased, and for how many milliseconds nothing new is stored: a command may have begun before.
   */
  readonly erased?: readonly [at: number, ms: number] | undefined
}

/** Returns the error for a command that may have begun before its user was erased. */
export function justErased(): SessmgrError {
  return new SessmgrError('store_unavailable', 'This user was erased a moment ago. Try again shortly.')
}

/** A login that waits for the user's choice. */
export interface WaitingLogin {
  /** Hash of its secret. */
  readonly name: string
  /** In milliseconds, by the store's clock. */
  readonly expiresAt: number
  /** The logout generation when the login was opened. */
  readonly generation: number
  /** How many tries are left, including the next one. */
  readonly tries: number
  /** Whether a request is using the login, so that no other request gets it. */
  readonly isTaken: boolean
  /** The label that the `login` option has given the login. */
  readonly label?: string | undefined
}

/** What a change to a state is based on. */
export interface KnownUser extends UserState {
  readonly sessions: readonly StoredSession[]
}

/** A change to a state. Has no side effects, because it may run several times. */
export type StateChange<Result> = (
  user: KnownUser,
  /** Time by the store's clock, in milliseconds. */
  now: number,
) => {
  readonly result: Result
  /** The parts that change. Undefined changes nothing. */
  readonly next?: Partial<KnownUser> | undefined
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

/** How often something may happen per user. */
export interface Frequency {
  /** How many times are allowed within the period, from 1 to 100. */
  readonly count: number
  /** Length of the period in minutes, from 1 to 1,440. */
  readonly minutes: number
}

/** When something has happened. */
interface Count {
  /** Length of the period in minutes. */
  readonly minutes: number
  /** In milliseconds, in order. */
  readonly times: readonly number[]
}

/** What was counted, so that it can be given back. */
export interface Use {
  readonly name: string
  readonly at: number
}

/** What was counted, or the time when it is allowed again. */
export type Counted = (Use & { readonly until?: undefined }) | { readonly until: number }

/** The name under which the choices of sessions are counted. A password change restarts the count. */
export const CHOICES = 'choices'
/** The name under which second proofs of choices are counted. */
export const CODES = 'codes'
/** What the names begin with under which the passwords guessed in each session are counted. */
const PASSWORDS = 'password '
/** How many characters of its token identify a session among those of its user. */
const TOKEN_LENGTH = 8
/** How many passwords a user may try in all sessions together, as a multiple of those in one session. */
const ALL_SESSIONS = 4
/** How many passwords may be tried in an older session, whatever is tried in others. */
const FOR_SURE = 3

const MINUTE_MS = 60_000

/** Returns a change that counts a use, unless there were too many. */
export function countUse(name: string, frequency: Frequency): StateChange<Counted> {
  return ({ counts }, now) => {
    const until = freeAt(recentTimes(counts?.[name], now, frequency), frequency, frequency.count)
    return until === undefined ? counted(counts, name, now, frequency) : { result: { until } }
  }
}

/**
 * Returns a change that counts a password guessed in a session, unless there were too many in this session, or in all
 * sessions of the user. A session that is older than the period has its first three for sure, so someone with a stolen
 * cookie cannot use up the owner's.
 *
 * @param frequency How many are allowed in one session.
 */
export function countPassword(token: Token, frequency: Frequency): StateChange<Counted> {
  const { count, minutes } = frequency
  const name = PASSWORDS + token.slice(0, TOKEN_LENGTH)
  return ({ counts = {}, sessions }, now) => {
    const own = recentTimes(counts[name], now, frequency)
    const names = Object.keys(counts).filter((each) => each.startsWith(PASSWORDS))
    const all = names.flatMap((each) => recentTimes(counts[each], now, frequency)).toSorted((one, other) => one - other)
    const session = sessions.find(({ record }) => record.token === token)
    const isOld = session !== undefined && now - session.record.createdAt >= minutes * MINUTE_MS
    const isSure = isOld && own.length < FOR_SURE
    const untilAll = isSure ? undefined : freeAt(all, frequency, ALL_SESSIONS * count)
    const until = Math.max(freeAt(own, frequency, count) ?? 0, untilAll ?? 0)
    return until === 0 ? counted(counts, name, now, frequency) : { result: { until } }
  }
}

/** Returns a change that finds out when a use is allowed again. Its result is undefined if one is allowed now. */
export function nextUse(name: string, frequency: Frequency): StateChange<number | undefined> {
  return ({ counts }, now) => ({
    result: freeAt(recentTimes(counts?.[name], now, frequency), frequency, frequency.count),
  })
}

/** Returns a change that takes back what was counted. */
export function giveBack({ name, at }: Use): StateChange<void> {
  return ({ counts }, now) => {
    const count = counts?.[name]
    const place = count?.times.indexOf(at) ?? -1
    if (!count || place === -1) return { result: undefined }
    const left = { ...count, times: count.times.toSpliced(place, 1) }
    return { result: undefined, next: { counts: openCounts({ ...counts, [name]: left }, now) } }
  }
}

function counted(counts: UserState['counts'], name: string, at: number, frequency: Frequency) {
  const { minutes } = frequency
  const times = [...recentTimes(counts?.[name], at, frequency), at]
  return { result: { name, at }, next: { counts: { ...counts, [name]: { minutes, times } } } }
}

/** Returns when a use is allowed again, or undefined if one is allowed now. */
function freeAt(times: readonly number[], { minutes }: Frequency, most: number): number | undefined {
  const first = times.at(-most)
  return first === undefined ? undefined : first + minutes * MINUTE_MS
}

/** Returns the times that are not longer ago than a period. Times in the future count as now. */
function recentTimes(count: Count | undefined, now: number, { minutes }: Pick<Frequency, 'minutes'>): number[] {
  const times = count?.times.filter((at) => now - at < minutes * MINUTE_MS) ?? []
  return times.map((at) => Math.min(at, now))
}

function openCounts(counts: NonNullable<UserState['counts']>, now: number): UserState['counts'] {
  const left = Object.entries(counts).flatMap(([name, count]) => {
    const times = recentTimes(count, now, count)
    return times.length === 0 ? [] : [[name, { ...count, times }] as const]
  })
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

/** Checks whether no count has a time that is over, or in the future. */
function areCurrent(counts: NonNullable<UserState['counts']>, now: number): boolean {
  return Object.values(counts).every(({ minutes, times: [first = 0, ...more] }) => {
    return now - first < minutes * MINUTE_MS && (more.at(-1) ?? first) <= now
  })
}

/** Longest time that a login may wait for the user's choice. */
const MOST_PENDING_MS = 900_000
/** How many logins of a user may wait. */
const MOST_PENDING = 100
/** Maximum number of tries. Each lost race costs one, so that no client can repeat a login forever. */
const TRIES = 3

/** Returns a change that adds a waiting login. */
export function openPending(name: string, lifeMs: number, generation: number, label?: string): StateChange<void> {
  return ({ pending = [] }, now) => {
    const expiresAt = now + Math.min(lifeMs, MOST_PENDING_MS)
    const login = { name, expiresAt, generation, tries: TRIES, isTaken: false, label }
    return { result: undefined, next: { pending: [...pending, login].slice(-MOST_PENDING) } }
  }
}

/**
 * Returns a change that finds a waiting login, and replaces it with what `change` returns. Undefined removes it.
 *
 * @param change If omitted, the login stays as it is.
 */
export function changePending(
  name: string,
  change = (login: WaitingLogin): WaitingLogin | undefined => login,
): StateChange<{ readonly login: WaitingLogin; readonly leftMs: number } | undefined> {
  return ({ pending = [] }, now) => {
    const login = pending.find((one) => one.name === name)
    if (!login) return { result: undefined }
    const result = { login, leftMs: login.expiresAt - now }
    const changed = change(login)
    if (changed === login) return { result }
    const next = pending.flatMap((one) => (one === login ? (changed ?? []) : one))
    return { result, next: { pending: next.length === 0 ? undefined : next } }
  }
}

/**
 * Returns a state after all of a user's sessions, or all except one, were ended together. Logins no longer wait, and the
 * count of choices restarts.
 *
 * @param keepsChoices Whether the choices keep counting, because the password has not changed.
 */
export function afterEnds<State extends UserState>(state: State, keepsChoices = false): State {
  const { [CHOICES]: choices, ...others } = state.counts ?? {}
  const left = keepsChoices && choices ? { ...others, [CHOICES]: choices } : others
  return { ...state, counts: Object.keys(left).length === 0 ? undefined : left, pending: undefined }
}

/** Returns what is left of a state now, without times in the future. Returns the same object if nothing has changed. */
export function openState<State extends UserState>(state: State, now: number): State {
  let opened = state
  const { devices, counts, pending, erased } = state
  const stillErased = erased && openErased(erased, now)
  if (stillErased !== erased) opened = { ...opened, erased: stillErased }
  const text = devices && (devicesText(devicesIn(devices, now)) || undefined)
  if (text !== devices) opened = { ...opened, devices: text }
  if (counts && !areCurrent(counts, now)) opened = { ...opened, counts: openCounts(counts, now) }
  if (pending?.some((login) => !isWaiting(login, now))) opened = { ...opened, pending: stillWaiting(pending, now) }
  return opened
}

function openErased(erased: NonNullable<UserState['erased']>, now: number): UserState['erased'] {
  const [at, ms] = erased
  if (now - at >= ms) return undefined
  return at > now ? [now, ms] : erased
}

/** Checks whether a login has not expired, and expires in time. */
function isWaiting({ expiresAt }: WaitingLogin, now: number): boolean {
  return expiresAt > now && expiresAt <= now + MOST_PENDING_MS
}

function stillWaiting(pending: readonly WaitingLogin[], now: number): UserState['pending'] {
  const left = pending.filter(({ expiresAt }) => expiresAt > now)
  if (left.length === 0) return undefined
  return left.map((login) => ({ ...login, expiresAt: Math.min(login.expiresAt, now + MOST_PENDING_MS) }))
}

/** Returns when the last part of a state expires, or 0. */
export function stateExpiry({ devices, counts = {}, pending = [], erased: [at, ms] = [0, 0] }: UserState): number {
  let last = at + ms
  if (devices) last = Math.max(last, (Number.parseInt(devices.slice(-DAY_LENGTH), 36) + 1) * DAY_MS)
  for (const { minutes, times } of Object.values(counts))
    last = Math.max(last, (times.at(-1) ?? 0) + minutes * MINUTE_MS)
  for (const { expiresAt } of pending) last = Math.max(last, expiresAt)
  return last
}
