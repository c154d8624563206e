import { deviceIcon, icon } from '../../../pages/icons.ts'
import { html, type Markup } from '../../../pages/markup.ts'
import { counted, filled } from '../../../pages/page-texts.ts'
import { readerTimes } from '../../../texts/reader-times.ts'
import type { Say } from '../../../texts/texts-for.ts'
import type { ChoiceDevices, ChoiceProblem, ChoiceRow } from '../choice-view.ts'

/** What is needed to draw any page. */
export interface DrawParts {
  readonly say: Say
  /** URL to send the form to. */
  readonly action: string
  readonly proof: string
  readonly loginUrl: string
  /** The field of the second proof. */
  readonly field: { readonly name: string; readonly label: string } | undefined
}

/** How many sessions are shown at first. */
const MOST_ROWS = 10

/** Draws the page where the user chooses. */
export function drawChoice(parts: DrawParts, devices: ChoiceDevices): Markup {
  const { say } = parts
  const { rows, need, maximum, problem, minutes } = devices
  const [only] = rows
  if (only && rows.length === 1 && maximum === 1) return drawOnly(parts, devices, only)
  const pick = (row: ChoiceRow) => drawPick(say, row, need === 1)
  const more = rows.slice(MOST_ROWS)
  const count = rows.length
  const state = counted(count > maximum ? 'choice_over' : 'choice_allowed', maximum)
  return html`${drawHead(say('choice_title'), `${say(state, { count, maximum })} ${say('choice_need', { need })}`, problem)}
${problem && problem !== 'unproved' && drawProblem(say, devices, problem)}
${drawForm(
  parts,
  problem,
  html`<fieldset><legend class="unseen">${say(counted('choice_legend', need), { need })}</legend><div class="list">${rows.slice(0, MOST_ROWS).map(pick)}
${more.length > 0 && html`<details${more.some((row) => row.isChosen) && ' open'}><summary>${say('choice_more', { count })}</summary>${more.map(pick)}</details>`}</div></fieldset>`,
  html`<button class="primary">${say('choice_end')}</button><button name="all" value="1" formnovalidate>${say('choice_all')}</button>`,
)}
<div><p class="foot">${say('choice_foot')}</p>${drawLife(say, minutes)}</div>`
}

/** Draws the question whether to continue here instead of on the only other device. */
function drawOnly(parts: DrawParts, { problem, minutes }: ChoiceDevices, row: ChoiceRow): Markup {
  const { say } = parts
  const { device, used, token } = row
  const ago = html`<time datetime="${used.iso}" title="${used.exact}">${used.ago}</time>`
  const question = filled(say, 'choice_only', { device: html`<bdi>${device}</bdi>`, ago })
  return html`${drawHead(say('choice_only_title'), question, problem)}
${problem === 'changed' && drawNote(say('choice_changed'), say('choice_again'))}
${drawForm(
  parts,
  problem,
  html`<input type="hidden" name="end" value="${token}">`,
  html`<button class="primary">${say('choice_only_yes')}</button>`,
)}
<div><p class="foot">${say('choice_only_foot')}</p>${drawLife(say, minutes)}</div>`
}

/** Draws the page for a choice that is no longer needed. */
export function drawRoom(parts: DrawParts, problem: ChoiceProblem | undefined): Markup {
  const { say } = parts
  return html`${drawHead(say('choice_room_title'), say('choice_room'), problem)}
${drawForm(parts, problem, undefined, html`<button class="primary">${say('choice_room_yes')}</button>`)}`
}

function drawHead(title: string, lead: string | Markup, problem: ChoiceProblem | undefined): Markup {
  return html`<header><h1 tabindex="-1"${!problem && ' autofocus'}>${title}</h1><p class="lead">${lead}</p></header>`
}

function drawLife(say: Say, minutes: number): Markup {
  return html`<p class="foot">${say(counted('choice_life', minutes), { count: minutes })}</p>`
}

function drawProblem(say: Say, { need, rows }: ChoiceDevices, problem: 'few' | 'changed'): Markup {
  if (problem === 'changed') return drawNote(say('choice_changed'), say('choice_again'))
  const count = rows.filter((row) => row.isChosen).length
  return drawNote(say(counted('choice_few', need), { need }), need > 1 && say('choice_chose', { count, need }))
}

function drawNote(title: string, rest: string | false): Markup {
  return html`<div class="note" role="alert" tabindex="-1" autofocus>${icon('warning')}<div><strong>${title}</strong>${rest}</div></div>`
}

function drawPick(say: Say, row: ChoiceRow, isOne: boolean): Markup {
  const { token, device, kind, used, signedIn, ip, isUnused, isChosen } = row
  const since = signedIn.isToday ? say('account_today', { time: signedIn.time }) : signedIn.date
  const times = filled(say, 'account_used', {
    ago: html`<time datetime="${used.iso}" title="${used.exact}">${used.ago}</time>`,
    date: html`<time datetime="${signedIn.iso}" title="${signedIn.exact}">${since}</time>`,
  })
  const input = isOne
    ? html`<input type="radio" name="end" value="${token}" required${isChosen && ' checked'}>`
    : html`<input type="checkbox" name="end" value="${token}"${isChosen && ' checked'}>`
  return html`<label class="pick">${input}${deviceIcon(kind)}<span><strong><bdi>${device}</bdi></strong>${isUnused && html` <span class="tag next">${say('choice_unused')}</span>`}
<span class="meta">${times}${ip !== undefined && html`<br><bdi>${ip}</bdi>`}</span></span></label>`
}

/** Draws the form around what the user chooses. The Enter key presses the first button. */
function drawForm(
  { say, action, proof, field }: DrawParts,
  problem: ChoiceProblem | undefined,
  content: Markup | undefined,
  buttons: Markup,
): Markup {
  const isWrong = problem === 'unproved'
  const error = isWrong && html`<p class="error" id="proof-error" role="alert">${say('choice_wrong')}</p>`
  const marks = isWrong && html` aria-invalid="true" aria-describedby="proof-error" autofocus`
  return html`<form class="stack" method="post" action="${action}"><input type="hidden" name="proof" value="${proof}">${content}
${field && html`<div class="field"><label for="proof-field">${field.label}</label>${error}<input id="proof-field" name="${field.name}" autocomplete="one-time-code" required${marks}></div>`}
<div class="choices">${buttons}<button name="cancel" value="1" formnovalidate>${say('choice_cancel')}</button></div></form>`
}

/** Draws a page for a user who cannot choose. */
export function drawEnd(
  { say, action, loginUrl }: DrawParts,
  page: 'often' | 'old' | 'away' | 'spent',
  until: number | undefined,
): Markup {
  const time = until === undefined ? '' : readerTimes(say, Date.now())(until).time
  const [title, text] = (
    {
      often: [say('choice_often'), say('choice_often_until', { time })],
      old: [say('account_old'), say('account_old_help')],
      away: [say('choice_away'), say('choice_away_help')],
      spent: [say('choice_away'), say('choice_spent')],
    } as const
  )[page]
  const isOver = page === 'often' || page === 'spent'
  const link = isOver ? [loginUrl, say('choice_sign_in')] : [action, say('choice_retry')]
  return html`<header class="stack"><h1 tabindex="-1" autofocus>${title}</h1><p>${text}</p></header>
<div class="choices"><a class="button primary" href="${link[0]}">${link[1]}</a></div>`
}
