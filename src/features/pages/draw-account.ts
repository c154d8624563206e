import { withDeadline } from '../../ground/deadline.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { LimitStrategy } from '../../strategies/limit-strategy.ts'
import { readerTimes } from '../../texts/reader-times.ts'
import type { TextKey } from '../../texts/text-catalogue.ts'
import type { Say } from '../../texts/texts-for.ts'
import {
  button,
  counted,
  deviceIcon,
  drawField,
  drawForm,
  drawMessage,
  drawNote,
  drawTime,
  drawUse,
  filled,
  html,
  listDevices,
  type Markup,
  type PageForm,
  tooOften,
} from './markup.ts'
import type { ShowOptions } from './page-options.ts'
import type { AccountDevices, AccountRow, PageResult } from './page-views.ts'

/** Maximum number of sessions on a page. */
const PAGE_SIZE = 50
const LONG_LIST = 4
const UNUSED_MS = 30 * 86_400_000
const LOCATION_MS = 1000

/** A user's sessions, and how many they may have. */
export interface OwnList {
  /** The sessions, last used first. */
  readonly sessions: readonly SessionRecord[]
  readonly current: SessionRecord | undefined
  /** How many sessions the user may have. Null if there is no limit, or if it is not enforced. */
  readonly maximum: number | null
  readonly mode: LimitStrategy
}

/** Where a list is shown, and in which language. */
interface DescribeParts {
  readonly base: string
  readonly page: number
  readonly say: Say
  readonly show: ShowOptions
  readonly result: PageResult | undefined
}

/** Prepares one page of a user's sessions for display. */
export async function describeDevices(list: OwnList, parts: DescribeParts): Promise<AccountDevices> {
  const { base, say, show, result } = parts
  const { sessions, current, maximum } = list
  const others = sessions.filter((record) => record !== current)
  const last = Math.max(1, Math.ceil(others.length / PAGE_SIZE))
  const page = Math.min(parts.page, last)
  const now = Date.now()
  const next = nextToEnd(list)
  const shown = others.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  const listed = current ? [current, ...shown] : shown
  const described = await listDevices(listed, { say, showsIp: show.ip, now }, async (record) => ({
    isCurrent: record === current,
    place: await placeOf(record, show.location),
    isSameBrowser: record !== current && record.device !== null && record.device === current?.device,
    isNext: record === next,
    isActing: record.actor !== null,
    counts: record.counts,
    isBound: record.bound !== null,
  }))
  const isUnique = (name: string) => [...described.values()].filter(({ device }) => device === name).length === 1
  const rowOf = ({ token }: SessionRecord) => {
    const row = described.get(token) as Omit<AccountRow, 'name'>
    const { device, since: date } = row
    return { ...row, name: isUnique(device) ? device : say('account_row', { device, date }) }
  }
  const isUnused = (record: SessionRecord) => now - record.lastSeenAt > UNUSED_MS
  return {
    current: current && rowOf(current),
    others: shown.filter((record) => !isUnused(record)).map(rowOf),
    unused: shown.filter(isUnused).map(rowOf),
    count: sessions.filter(({ counts }) => counts).length,
    maximum,
    result,
    confirmUrl: others.length > 0 ? `${base}?confirm` : undefined,
    nextUrl: page < last ? `${base}?page=${page + 1}` : undefined,
    previousUrl: page > 1 ? `${base}${page > 2 ? `?page=${page - 1}` : ''}` : undefined,
  }
}

/** What a mode does with the next login of a user at the limit: in general, and with the session that ends first. */
const NEXT_LOGIN: Readonly<Record<string, readonly [full: TextKey, next?: TextKey]>> = {
  allow: ['account_full_allow'],
  block: ['account_full_block'],
  ask: ['account_full_ask'],
  logout_oldest: ['account_full_oldest', 'account_full_logout_oldest'],
  logout_idlest: ['account_full_idlest', 'account_full_logout_idlest'],
}

/** Returns the session that the next login ends first, if the mode has a sentence that names it. */
function nextToEnd({ sessions: all, maximum, mode }: OwnList): SessionRecord | undefined {
  const sessions = all.filter(({ counts }) => counts)
  const [first] = sessions
  if (!first || maximum === null || sessions.length < maximum || !NEXT_LOGIN[mode.id]?.[1]) return undefined
  const oldestFirst = sessions.toSorted((one, other) => one.sequence - other.sequence)
  const nobody = { others: [], neverUsed: [], chosen: [] }
  const times = { now: Date.now(), idleAfterMs: Number.POSITIVE_INFINITY }
  return mode.decide({ userId: first.userId, sessions: oldestFirst, maximum, ...nobody, ...times }).end[0]
}

/** Returns the location from the application, or undefined if the application fails or takes too long. */
async function placeOf(record: SessionRecord, location: ShowOptions['location']): Promise<string | undefined> {
  if (!location) return undefined
  try {
    const found = Promise.resolve(location(record))
    return (await withDeadline(found, LOCATION_MS, () => new Error('too slow'))) || undefined
  } catch {
    return undefined
  }
}

/** What is needed to draw the list. */
interface DrawParts extends PageForm {
  readonly logoutUrl: string | undefined
  readonly mode: LimitStrategy
}

/** Draws the list of a user's sessions. */
export function drawDevices(parts: DrawParts, devices: AccountDevices): Markup {
  const { say } = parts
  const { count, current, others, unused, confirmUrl, nextUrl, previousUrl, result } = devices
  const list = (title: TextKey, rows: readonly AccountRow[]) =>
    rows.length > 0 &&
    html`<section aria-labelledby="${title}"><h2 id="${title}">${say(title)}</h2><ul class="list">${rows.map((row) => drawRow(parts, row))}</ul></section>`
  const endOthers =
    confirmUrl && html`<div class="actions">${button(' danger', confirmUrl, say('account_end_others'))}</div>`
  // Above a long list, so that nobody scrolls to it.
  const isLong = count >= LONG_LIST
  const asOf = readerTimes(say, Date.now())(Date.now())
  return html`<header><h1>${say('account_title')}</h1>
<p class="lead">${leadOf(parts, devices)}</p>
<p class="print meta">${filled(say, 'account_as_of', { time: drawTime(asOf, asOf.exact) })}</p></header>
${result && drawResult(parts, result)}
${current && list('account_this', [current])}
${isLong && endOthers}
${list('account_others', others)}
${list('account_unused', unused)}
${(nextUrl || previousUrl) && html`<div class="actions">${previousUrl && button('', previousUrl, say('account_previous'))}${nextUrl && button('', nextUrl, say('account_more'))}</div>`}
${confirmUrl && html`<div class="stack">${!isLong && endOthers}<p class="foot">${say('account_foot')}</p></div>`}`
}

function leadOf({ say, mode }: DrawParts, { count, maximum, current, others, unused }: AccountDevices): string {
  if (maximum === null) return say(counted('account_count', count), { count })
  if (count > maximum) return say(counted('account_over', maximum), { count, maximum })
  const sentences = [say(counted('account_count_of', maximum), { count, maximum })]
  const [full, named] = NEXT_LOGIN[mode.id] ?? []
  const next = [current, ...others, ...unused].find((row) => row?.isNext)
  if (count === 1) sentences.push(say('account_only_here'))
  else if (count === maximum && full) {
    sentences.push(next && named ? say(named, { device: next.name }) : say(full))
  }
  return sentences.join(' ')
}

function drawRow(parts: DrawParts, row: AccountRow): Markup {
  const { say, logoutUrl } = parts
  const { device, name, used, signedIn, since, place, ip, token } = row
  const times = row.isCurrent
    ? filled(say, 'account_signed_in', { date: drawTime(signedIn, since) })
    : drawUse(say, row)
  const near = place === undefined ? [] : [html`<bdi>${say('account_near', { place })}</bdi>`]
  const where = [...near, ...(ip === undefined ? [] : [html`<bdi>${ip}</bdi>`])].flatMap((part, index) =>
    index === 0 ? [part] : [' · ', part],
  )
  const label = say('account_end_named', { device: name, ago: used.ago })
  const end = html`<button name="end" value="${token}" aria-label="${label}">${say('account_end')}</button>`
  return html`<li class="row">${deviceIcon(row.kind)}
<div><h3><bdi>${device}</bdi>${row.isSameBrowser && html` <span class="tag">${say('account_same_browser')}</span>`}${!row.counts && html` <span class="tag">${say(row.isActing ? 'account_acting' : 'account_uncounted')}</span>`}${row.isBound && html` <span class="tag">${say('account_bound')}</span>`}${row.isNext && html` <span class="tag next">${say('account_next')}</span>`}</h3>
<p class="meta">${times}${where.length > 0 && html`<br>${where}`}</p></div>
${row.isCurrent ? logoutUrl !== undefined && button('', logoutUrl, say('account_end')) : drawForm(parts, '', end)}</li>`
}

/** Draws the result of the last form. */
function drawResult(form: PageForm, result: PageResult): Markup {
  const { say } = form
  const { kind, device, count = 0 } = result
  const of = (one: TextKey, others: TextKey) => (device === undefined ? say(others) : say(one, { device }))
  const done = (title: string, rest?: string) => drawNote('done', 'status', title, rest)
  if (kind === 'ended') return done(say('account_ended', { device: device ?? '' }), say('account_next_click'))
  if (kind === 'ended_others') return done(say(counted('account_ended_others', count), { count }))
  if (kind === 'gone') return done(say('account_gone'))
  if (kind === 'proved') return done(of('account_proved', 'account_proved_others'))
  if (kind === 'uncertain') {
    return drawNote('warning', 'status', of('account_uncertain', 'account_uncertain_others'), say('account_look'))
  }
  return drawPassword(form, result)
}

function drawPassword(form: PageForm, result: PageResult): Markup {
  const { say, action } = form
  const { kind, token, retryAt } = result
  const error = kind === 'wrong' ? say('account_wrong') : kind === 'often' ? tooOften(say, retryAt) : undefined
  const attributes = html`name="password" type="password" autocomplete="current-password" autofocus`
  const content = html`<p>${sureText(say, result)}</p>
<input type="hidden" name="wanted" value="${token ?? ''}">
${drawField('password', say('account_password'), error, attributes)}
<div class="actions"><button class="primary">${say('account_continue')}</button>${button('', action, say('account_cancel'))}</div>`
  return drawForm(form, 'list panel stack', content)
}

function sureText(say: Say, { device }: PageResult): string {
  return device === undefined ? say('account_sure_others') : say('account_sure', { device })
}

const MOST_NAMES = 5

/** Draws the page that asks for confirmation before all other sessions end. */
export function drawConfirm(form: PageForm, names: readonly string[]): Markup {
  const { say, action } = form
  const count = names.length
  const shown = names.slice(0, MOST_NAMES).join(', ')
  const devices = count > MOST_NAMES ? say('account_and_more', { devices: shown, count: count - MOST_NAMES }) : shown
  const yes = html`<button class="danger" name="others" value="1">${say(counted('account_confirm_yes', count), { count })}</button>`
  const choices = drawForm(form, 'actions', [yes, button('', action, say('account_cancel'))])
  return drawMessage(say('account_confirm'), say(counted('account_confirm', count), { count, devices }), choices)
}

/** Draws the page that sends the user elsewhere for a proof: to sign in again, or to one of the application's pages. */
export function drawAgain({ say, action }: PageForm, result: PageResult, proofUrl: string): Markup {
  const [title, yes] =
    result.kind === 'login'
      ? (['account_again', 'account_again_yes'] as const)
      : (['account_prove', 'account_continue'] as const)
  const links = [button(' primary', proofUrl, say(yes)), button('', action, say('account_cancel'))]
  return drawMessage(say(title), sureText(say, result), html`<div class="actions">${links}</div>`)
}

/** Draws an error page. */
export function drawFailure(say: Say, action: string, page: 'old' | 'away'): Markup {
  const retry = button(' primary', action, say(page === 'old' ? 'account_show' : 'account_retry'))
  return drawMessage(say(`account_${page}`), say(`account_${page}_help`), html`<div class="actions">${retry}</div>`)
}
