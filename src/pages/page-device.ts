import { type DeviceKind, deviceName } from '../sessions/device.ts'
import type { SessionRecord } from '../sessions/session-record.ts'
import type { Token } from '../sessions/token.ts'
import { type ReaderTime, readerTimes } from '../texts/reader-times.ts'
import type { Say } from '../texts/texts-for.ts'
import { drawTime, filled, html, icon, type Markup } from './markup.ts'

/** A session in a list, ready to display. */
export interface ListedDevice {
  /** Identifies the session. The form that ends it sends it as `end`. */
  readonly token: Token
  /** Name of the device, such as "Chrome on Windows", or a text for an unknown one. */
  readonly device: string
  /** What kind of device it is. */
  readonly kind: DeviceKind
  /** Time of registration, which is usually the login. */
  readonly signedIn: ReaderTime
  /** That time, as the page shows it. It differs between devices that would otherwise look the same. */
  readonly since: string
  /** Time of the last recorded use. */
  readonly used: ReaderTime
  /** Address of the client, with the option `show.ip`. */
  readonly ip: string | undefined
}

type Row = Omit<ListedDevice, 'since'> & { readonly place?: string | undefined }

/**
 * Prepares sessions for display, by their tokens.
 *
 * @param ownOf Returns what only this page shows about a session.
 */
export async function listDevices<Own extends object>(
  records: readonly SessionRecord[],
  { say, showsIp, now }: { readonly say: Say; readonly showsIp: boolean | undefined; readonly now: number },
  ownOf: (record: SessionRecord) => Own | Promise<Own>,
): Promise<ReadonlyMap<Token, ListedDevice & Own>> {
  const timesOf = readerTimes(say, now)
  const rowOf = async (record: SessionRecord) => ({
    token: record.token,
    ...(await pageDevice(record, say)),
    signedIn: timesOf(record.createdAt),
    used: timesOf(record.lastSeenAt),
    ip: (showsIp && record.ip) || undefined,
    ...(await ownOf(record)),
  })
  const inOrder = records.toSorted((one, other) => one.sequence - other.sequence)
  const rows = await Promise.all(inOrder.map(rowOf))
  const since = sinceTexts(rows, say)
  return new Map(rows.map((row, index) => [row.token, { ...row, since: since[index] as string }]))
}

/** Returns the device of a session in the reader's language. */
export async function pageDevice({ userAgent }: Pick<SessionRecord, 'userAgent'>, say: Say) {
  const { name, kind } = await deviceName(userAgent, say('account_device'))
  return { device: name ?? say('account_unknown'), kind }
}

/**
 * Returns when each device in a list signed in. If several would look the same, their times have seconds; if even those
 * are the same, the first and the last are marked.
 *
 * @param rows The devices, in the order of their logins.
 */
function sinceTexts(rows: readonly Row[], say: Say): readonly string[] {
  const minutes = rows.map(({ signedIn }) =>
    signedIn.isToday ? say('account_today', { time: signedIn.time }) : signedIn.date,
  )
  const seconds = apart(rows, minutes, ({ signedIn: { isToday, date, seconds } }) =>
    isToday ? say('account_today', { time: seconds }) : `${date}, ${seconds}`,
  )
  return apart(rows, seconds, (_row, date, isFirst, isLast) => {
    if (isFirst) return say('account_first', { date })
    return isLast ? say('account_last', { date }) : date
  })
}

/** Replaces the texts of rows that look the same. */
function apart(
  rows: readonly Row[],
  texts: readonly string[],
  replace: (row: Row, text: string, isFirst: boolean, isLast: boolean) => string,
): readonly string[] {
  const looks = rows.map(({ device, used, place, ip }, index) =>
    JSON.stringify([device, used.ago, place, ip, texts[index]]),
  )
  return rows.map((row, index) => {
    const look = looks[index] as string
    const [first, last] = [looks.indexOf(look), looks.lastIndexOf(look)]
    const text = texts[index] as string
    return first === last ? text : replace(row, text, index === first, index === last)
  })
}

/** Draws the icon of a device. */
export function deviceIcon(kind: DeviceKind): Markup {
  return html`<span class="icon">${icon(kind === 'phone' || kind === 'tablet' || kind === 'program' ? kind : 'computer')}</span>`
}

/** Draws when a session was last used, and when it signed in. */
export function drawUse(say: Say, { used, signedIn, since }: ListedDevice): Markup {
  return filled(say, 'account_used', { ago: drawTime(used, used.ago), date: drawTime(signedIn, since) })
}
