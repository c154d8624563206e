import { type DeviceKind, deviceName } from '../../sessions/device.ts'
import type { SessionRecord, Token } from '../../sessions/session-record.ts'
import { type ReaderTime, readerTimes } from '../../texts/reader-times.ts'
import type { TextKey } from '../../texts/text-catalogue.ts'
import { htmlText, type Say } from '../../texts/texts-for.ts'
import type { ListedDevice } from './page-views.ts'

/** HTML that is safe to insert. Only {@link html} creates it. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/**
 * What can be inserted into HTML. Markup is inserted unchanged, strings are escaped, lists are joined, and empty values
 * are dropped.
 */
type Part = Markup | string | number | readonly Part[] | undefined | null | false

/** Builds HTML. Escapes the strings that are inserted into it. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(literals.map((literal, index) => literal + textOf(parts[index])).join(''))
}

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text
  if (Array.isArray(part)) return part.map(textOf).join('')
  return part === undefined || part === null || part === false ? '' : htmlText(String(part))
}

/** Returns the key of the singular or the plural of a text. */
export const counted = (key: string, count: number) => `${key}_${count === 1 ? 'one' : 'other'}` as TextKey

/** Returns a text with markup in its placeholders. */
export function filled(say: Say, key: TextKey, values: Readonly<Record<string, Part>>): Markup {
  const marks = Object.fromEntries(Object.keys(values).map((name) => [name, `\u0001${name}\u0001`]))
  const parts = say(key, marks).split('\u0001')
  return html`${parts.map((part, index) => (index % 2 === 1 ? values[part] : part))}`
}

/** Returns the text for a user who has guessed too often. @param retryAt When they may try again, if known. */
export function tooOften(say: Say, retryAt: number | undefined): string {
  if (retryAt === undefined) return say('account_often')
  return say('account_often_until', { time: readerTimes(say, Date.now())(retryAt).time })
}

const ICONS = {
  computer: 'M4 5h16v10H4zM9 19h6M12 15v4',
  phone: 'M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1ZM11 18h2',
  tablet: 'M6 3h12a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1ZM11 18h2',
  program: 'M4 5h16v14H4zM8 10l2.5 2L8 14M13 14h3',
  done: 'M5 12.5 10 17l9-10',
  warning: 'M12 8v5M12 16.5v.01M12 3.5 21 19.5H3L12 3.5Z',
  back: 'M19 12H5M11 6l-6 6 6 6',
} as const

/** Draws an icon. It is hidden from screen readers, because the text next to it has the same meaning. */
export function icon(name: keyof typeof ICONS): Markup {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`
}

/** Draws a point in time. */
export function drawTime({ iso, exact }: ReaderTime, text: string): Markup {
  return html`<time datetime="${iso}" title="${exact}">${text}</time>`
}

/** Draws a link that looks like a button. */
export function button(kind: '' | ' primary' | ' danger', href: string, text: string): Markup {
  return html`<a class="button${kind}" href="${href}">${text}</a>`
}

/**
 * Draws a page with a single message. The heading gets the focus, so that screen readers start there.
 *
 * @param content How to continue: a form, or links.
 */
export function drawMessage(title: string, text: string, content: Part): Markup {
  return html`<header class="stack"><h1 tabindex="-1" autofocus>${title}</h1>
<p>${text}</p></header>
${content}`
}

/** Draws the result of the last form. It gets the focus, so that screen readers and keyboard users start there. */
export function drawNote(kind: 'done' | 'warning', role: 'status' | 'alert', title: string, rest?: string | false) {
  return html`<div class="note${kind === 'done' && ' done'}" role="${role}" tabindex="-1" autofocus>${icon(kind)}<div><strong>${title}</strong>${rest}</div></div>`
}

/** What is needed to draw a form. */
export interface PageForm {
  readonly say: Say
  /** URL to send the form to. */
  readonly action: string
  /** Nonce that shows that the form is from this page. */
  readonly proof: string
  /** The application's hidden fields. */
  readonly fields?: Markup | undefined
}

/**
 * Draws a field that must be filled in, for a password or a code.
 *
 * @param error What was wrong with the last input.
 */
export function drawField(id: string, label: string, error: string | undefined, attributes: Markup): Markup {
  const note = error !== undefined && html`<p class="error" id="${id}-error" role="alert">${error}</p>`
  const marks = error !== undefined && html` aria-invalid="true" aria-describedby="${id}-error"`
  return html`<div class="field"><label for="${id}">${label}</label>
${note}<input id="${id}" ${attributes} required${marks}></div>`
}

/** Draws a form. @param style Names of its classes, if it has any. */
export function drawForm({ action, proof, fields }: PageForm, style: string, content: Part): Markup {
  return html`<form${style !== '' && html` class="${style}"`} method="post" action="${action}"><input type="hidden" name="proof" value="${proof}">${fields}${content}</form>`
}

type Row = Omit<ListedDevice, 'since'> & { readonly place?: string | undefined }

/**
 * Returns sessions prepared for display, keyed by their tokens.
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
 * Returns when each device in a list signed in. Devices that would look the same get times with seconds. If even these
 * are the same, the first and the last device are marked.
 *
 * @param rows The devices, in the order of their logins.
 */
function sinceTexts(rows: readonly Row[], say: Say): readonly string[] {
  const minutes = rows.map(({ signedIn }) => (signedIn.isToday ? signedIn.ago : signedIn.date))
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
