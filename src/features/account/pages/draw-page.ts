import { deviceIcon, icon } from '../../../pages/icons.ts'
import { html, type Markup } from '../../../pages/markup.ts'
import { counted, filled } from '../../../pages/page-texts.ts'
import { readerTimes } from '../../../texts/reader-times.ts'
import type { TextKey } from '../../../texts/text-catalogue.ts'
import type { Say } from '../../../texts/texts-for.ts'
import type { AccountDevices, AccountRow } from '../account-view.ts'
import type { PageResult } from './page-result.ts'

/** What the next login does at the limit, by mode. `named` also names the session that ends, if the page shows it. */
const FULL = new Map<string, { readonly text: TextKey; readonly named?: TextKey }>([
  ['allow', { text: 'account_full_allow' }],
  ['block', { text: 'account_full_block' }],
  ['ask', { text: 'account_full_ask' }],
  ['logout_oldest', { text: 'account_full_oldest', named: 'account_full_logout_oldest' }],
  ['logout_idlest', { text: 'account_full_idlest', named: 'account_full_logout_idlest' }],
])

/** What is needed to draw any page. */
export interface DrawParts {
  readonly say: Say
  /** URL to send forms to. */
  readonly action: string
  readonly proof: string
  readonly logoutUrl: string | undefined
  readonly logic: string
}

/** Draws the list of a user's sessions. */
export function drawDevices(parts: DrawParts, devices: AccountDevices): Markup {
  const { say } = parts
  const { current, others, unused, confirmUrl, nextUrl, previousUrl, result } = devices
  const list = (title: TextKey, rows: readonly AccountRow[]) =>
    rows.length > 0 &&
    html`<section aria-labelledby="${title}"><h2 id="${title}">${say(title)}</h2><ul class="list">${rows.map((row) => drawRow(parts, row))}</ul></section>`
  return html`<header><h1>${say('account_title')}</h1>
<p class="lead">${leadOf(parts, devices)}</p>
<p class="print meta">${say('account_as_of', { time: readerTimes(say, Date.now())(Date.now()).exact })}</p></header>
${result && drawResult(parts, result)}
${current && list('account_this', [current])}
${list('account_others', others)}
${list('account_unused', unused)}
${(nextUrl || previousUrl) && html`<div class="actions">${previousUrl && html`<a class="button" href="${previousUrl}">${say('account_previous')}</a>`}${nextUrl && html`<a class="button" href="${nextUrl}">${say('account_more')}</a>`}</div>`}
${confirmUrl && html`<div class="stack"><div class="actions"><a class="button danger" href="${confirmUrl}">${say('account_end_others')}</a></div><p class="foot">${say('account_foot')}</p></div>`}`
}

function leadOf({ say, logic }: DrawParts, { count, maximum, current, others, unused }: AccountDevices): string {
  if (maximum === null) return say(counted('account_count', count), { count })
  if (count > maximum) return say(counted('account_over', maximum), { count, maximum })
  const sentences = [say(counted('account_count_of', maximum), { count, maximum })]
  const full = FULL.get(logic)
  const next = [current, ...others, ...unused].find((row) => row?.isNext)
  if (count === 1) sentences.push(say('account_only_here'))
  else if (count === maximum && full) {
    sentences.push(next && full.named ? say(full.named, { device: next.device }) : say(full.text))
  }
  return sentences.join(' ')
}

function drawRow({ say, action, proof, logoutUrl }: DrawParts, row: AccountRow): Markup {
  const { device, used, signedIn, place, ip } = row
  const since = signedIn.isToday ? say('account_today', { time: signedIn.time }) : signedIn.date
  const ago = html`<time datetime="${used.iso}" title="${used.exact}">${used.ago}</time>`
  const date = html`<time datetime="${signedIn.iso}" title="${signedIn.exact}">${since}</time>`
  const times = row.isCurrent ? filled(say, 'account_signed_in', { date }) : filled(say, 'account_used', { ago, date })
  const near = place === undefined ? [] : [html`<bdi>${say('account_near', { place })}</bdi>`]
  const where = [...near, ...(ip === undefined ? [] : [html`<bdi>${ip}</bdi>`])].flatMap((part, index) =>
    index === 0 ? [part] : [' · ', part],
  )
  const label = say('account_end_named', { device, ago: used.ago })
  return html`<li class="row">${deviceIcon(row.kind)}
<div><h3><bdi>${device}</bdi>${row.isSameBrowser && html` <span class="tag">${say('account_same_browser')}</span>`}${row.isNext && html` <span class="tag next">${say('account_next')}</span>`}</h3>
<p class="meta">${times}${where.length > 0 && html`<br>${where}`}</p></div>
${
  row.isCurrent
    ? logoutUrl !== undefined && html`<a class="button" href="${logoutUrl}">${say('account_end')}</a>`
    : html`<form method="post" action="${action}"><input type="hidden" name="proof" value="${proof}"><button name="end" value="${row.token}" aria-label="${label}">${say('account_end')}</button></form>`
}</li>`
}

/** Draws the result of the last form. It gets the focus, so that screen readers and keyboard users start there. */
function drawResult(parts: DrawParts, result: PageResult): Markup {
  const { say } = parts
  const { kind, device, count = 0 } = result
  const of = (one: TextKey, others: TextKey) => (device === undefined ? say(others) : say(one, { device }))
  const note = (isDone: boolean, title: string, rest?: string | false) =>
    html`<div class="note${isDone && ' done'}" role="status" tabindex="-1" autofocus>${icon(isDone ? 'done' : 'warning')}<div><strong>${title}</strong>${rest}</div></div>`
  if (kind === 'ended') return note(true, say('account_ended', { device: device ?? '' }), say('account_next_click'))
  if (kind === 'ended_others') return note(true, say(counted('account_ended_others', count), { count }))
  if (kind === 'gone') return note(true, say('account_gone'))
  if (kind === 'proved') return note(true, of('account_proved', 'account_proved_others'))
  if (kind === 'uncertain') return note(false, of('account_uncertain', 'account_uncertain_others'), say('account_look'))
  return drawPassword(parts, result)
}

function drawPassword({ say, action, proof }: DrawParts, result: PageResult): Markup {
  const { kind, device, token, retryAt } = result
  const sure = device === undefined ? say('account_sure_others') : say('account_sure', { device })
  const time = retryAt === undefined ? undefined : readerTimes(say, Date.now())(retryAt).time
  const often = time === undefined ? say('account_often') : say('account_often_until', { time })
  const error = kind === 'wrong' ? say('account_wrong') : kind === 'often' ? often : undefined
  return html`<form class="list panel stack" method="post" action="${action}"><p>${sure}</p>
<div class="field"><label for="password">${say('account_password')}</label>
${error !== undefined && html`<p class="error" id="password-error" role="alert">${error}</p>`}
<input type="hidden" name="proof" value="${proof}"><input type="hidden" name="wanted" value="${token ?? ''}">
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus${error !== undefined && html` aria-invalid="true" aria-describedby="password-error"`}></div>
<div class="actions"><button class="primary">${say('account_continue')}</button><a class="button" href="${action}">${say('account_cancel')}</a></div></form>`
}

const MOST_NAMES = 5

/** Draws the page that asks before all other sessions end. */
export function drawConfirm({ say, action, proof }: DrawParts, names: readonly string[]): Markup {
  const count = names.length
  const shown = names.slice(0, MOST_NAMES).join(', ')
  const devices = count > MOST_NAMES ? say('account_and_more', { devices: shown, count: count - MOST_NAMES }) : shown
  return html`<header class="stack"><h1 tabindex="-1" autofocus>${say('account_confirm')}</h1>
<p>${say(counted('account_confirm', count), { count, devices })}</p></header>
<form class="actions" method="post" action="${action}"><input type="hidden" name="proof" value="${proof}">
<button class="danger" name="others" value="1">${say(counted('account_confirm_yes', count), { count })}</button>
<a class="button" href="${action}">${say('account_cancel')}</a></form>`
}

/** Draws the page that asks for a proof elsewhere: a new login, or one of the application's pages. */
export function drawAgain({ say, action }: DrawParts, { kind, device }: PageResult, proofUrl: string): Markup {
  const isLogin = kind === 'login'
  const sure = device === undefined ? say('account_sure_others') : say('account_sure', { device })
  return html`<header class="stack"><h1 tabindex="-1" autofocus>${say(isLogin ? 'account_again' : 'account_prove')}</h1>
<p>${sure}</p></header>
<div class="actions"><a class="button primary" href="${proofUrl}">${say(isLogin ? 'account_again_yes' : 'account_continue')}</a>
<a class="button" href="${action}">${say('account_cancel')}</a></div>`
}

/** Draws an error page. */
export function drawFailure({ say, action }: Pick<DrawParts, 'say' | 'action'>, page: 'old' | 'away'): Markup {
  const isOld = page === 'old'
  return html`<header class="stack"><h1 tabindex="-1" autofocus>${say(isOld ? 'account_old' : 'account_away')}</h1>
<p>${say(isOld ? 'account_old_help' : 'account_away_help')}</p></header>
<div class="actions"><a class="button primary" href="${action}">${say(isOld ? 'account_show' : 'account_retry')}</a></div>`
}
