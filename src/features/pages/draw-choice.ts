import { readerTimes } from '../../texts/reader-times.ts'
import type { Say } from '../../texts/texts-for.ts'
import type { OpenChoice } from './choice-logins.ts'
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
} from './markup.ts'
import type { PageCall } from './page.ts'
import type { ChoiceDevices, ChoiceProblem, ChoiceRow } from './page-views.ts'

const UNUSED_MS = 7 * 86_400_000

/** How sessions are shown. */
interface DescribeParts {
  readonly say: Say
  readonly showsIp: boolean
  /** The `idle_release` setting in milliseconds; 0 is off. */
  readonly idleMs: number
}

/** Prepares the choice for display. Resolves to undefined if there is nothing to choose. */
export async function describeChoice(
  { choice, chosen, problem, retryAt, login }: OpenChoice,
  { say, showsIp, idleMs }: DescribeParts,
): Promise<ChoiceDevices | undefined> {
  if (!choice) return undefined
  const { need, maximum, sessions } = choice
  const now = Date.now()
  const rows = await listDevices(sessions, { say, showsIp, now }, ({ token, lastSeenAt }) => ({
    isUnused: now - lastSeenAt > (idleMs || UNUSED_MS),
    isChosen: chosen.includes(token),
  }))
  const inOrder = sessions.toSorted((one, other) => one.lastSeenAt - other.lastSeenAt || one.sequence - other.sequence)
  const minutes = Math.max(1, Math.ceil(login.leftMs / 60_000))
  const listed = inOrder.map(({ token }) => rows.get(token) as ChoiceRow)
  return { rows: listed, need, maximum, problem, retryAt, minutes }
}

/** What is needed to draw the form. */
interface DrawParts extends PageForm {
  /** The field of the second proof. */
  readonly field: { readonly name: string; readonly label: string; readonly error: string | undefined } | undefined
}

/** How many sessions are shown at first. */
const MOST_ROWS = 10

/** Draws the page where the user chooses. */
export function drawChoice(parts: DrawParts, devices: ChoiceDevices): Markup {
  const { say } = parts
  const { rows, need, maximum, problem, minutes } = devices
  const [only] = rows
  const life = html`<p class="foot">${say(counted('choice_life', minutes), { count: minutes })}</p>`
  if (only && rows.length === 1 && maximum === 1) return drawOnly(parts, only, problem, life)
  const pick = (row: ChoiceRow) => drawPick(say, row, need === 1)
  const more = rows.slice(MOST_ROWS)
  const count = rows.length
  const state = counted(count > maximum ? 'choice_over' : 'choice_allowed', maximum)
  return html`${drawTitle(say('choice_title'), `${say(state, { count, maximum })} ${say('choice_need', { need })}`, problem)}
${(problem === 'few' || problem === 'changed') && drawProblem(say, devices, problem)}
${drawChoices(
  parts,
  html`<fieldset><legend class="unseen">${say(counted('choice_legend', need), { need })}</legend><div class="list">${rows.slice(0, MOST_ROWS).map(pick)}
${more.length > 0 && html`<details${more.some((row) => row.isChosen) && ' open'}><summary>${say('choice_more', { count })}</summary>${more.map(pick)}</details>`}</div></fieldset>`,
  html`<button class="primary">${say('choice_end')}</button><button name="all" value="1" formnovalidate>${say('choice_all')}</button>`,
)}
<div><p class="foot">${say('choice_foot')}</p>${life}</div>`
}

/** Draws the page that asks whether to continue here and sign out the only other device. */
function drawOnly(parts: DrawParts, row: ChoiceRow, problem: ChoiceProblem | undefined, life: Markup): Markup {
  const { say } = parts
  const { device, used, token } = row
  const question = filled(say, 'choice_only', { device: html`<bdi>${device}</bdi>`, ago: drawTime(used, used.ago) })
  return html`${drawTitle(say('choice_only_title'), question, problem)}
${problem === 'changed' && drawNote('warning', 'alert', say('choice_changed'), say('choice_again'))}
${drawChoices(
  parts,
  html`<input type="hidden" name="end" value="${token}">`,
  html`<button class="primary">${say('choice_only_yes')}</button>`,
)}
<div><p class="foot">${say('choice_only_foot')}</p>${life}</div>`
}

/** Draws the page that explains that no choice is needed any more. */
export function drawRoom(parts: DrawParts, problem: ChoiceProblem | undefined): Markup {
  const { say } = parts
  return html`${drawTitle(say('choice_room_title'), say('choice_room'), problem)}
${drawChoices(parts, undefined, html`<button class="primary">${say('choice_room_yes')}</button>`)}`
}

function drawTitle(title: string, lead: string | Markup, problem: ChoiceProblem | undefined): Markup {
  return html`<header><h1 tabindex="-1"${!problem && ' autofocus'}>${title}</h1><p class="lead">${lead}</p></header>`
}

function drawProblem(say: Say, { need, rows }: ChoiceDevices, problem: 'few' | 'changed'): Markup {
  if (problem === 'changed') return drawNote('warning', 'alert', say('choice_changed'), say('choice_again'))
  const count = rows.filter((row) => row.isChosen).length
  const rest = need > 1 && say('choice_chose', { count, need })
  return drawNote('warning', 'alert', say(counted('choice_few', need), { need }), rest)
}

function drawPick(say: Say, row: ChoiceRow, isOne: boolean): Markup {
  const { token, device, kind, ip, isUnused, isChosen } = row
  const input = isOne
    ? html`<input type="radio" name="end" value="${token}" required${isChosen && ' checked'}>`
    : html`<input type="checkbox" name="end" value="${token}"${isChosen && ' checked'}>`
  return html`<label class="pick">${input}${deviceIcon(kind)}<span><strong><bdi>${device}</bdi></strong>${isUnused && html` <span class="tag next">${say('choice_unused')}</span>`}
<span class="meta">${drawUse(say, row)}${ip !== undefined && html`<br><bdi>${ip}</bdi>`}</span></span></label>`
}

/** Draws the form around the choices. The Enter key presses the first button. */
function drawChoices(parts: DrawParts, content: Markup | undefined, buttons: Markup): Markup {
  const { say, field } = parts
  return drawForm(
    parts,
    'stack',
    html`${content}
${field && drawCode(field)}
<div class="choices">${buttons}<button name="cancel" value="1" formnovalidate>${say('choice_cancel')}</button></div>`,
  )
}

function drawCode({ name, label, error }: NonNullable<DrawParts['field']>): Markup {
  const focus = error !== undefined && ' autofocus'
  return drawField('proof-field', label, error, html`name="${name}" autocomplete="one-time-code"${focus}`)
}

/** Draws a page for a user who cannot choose. */
export function drawEnd(
  { say, path }: Pick<PageCall, 'say' | 'path'>,
  loginUrl: string,
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
  const link = isOver
    ? button(' primary', loginUrl, say('choice_sign_in'))
    : button(' primary', path, say('choice_retry'))
  return drawMessage(title, text, html`<div class="choices">${link}</div>`)
}
