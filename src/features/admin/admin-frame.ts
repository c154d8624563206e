import { htmlText, type ReaderTexts } from '../../texts/texts-for.ts'
import { tabsFor } from './screen-tabs.ts'

/** The data of the frame. */
export interface FrameParts {
  /** Path where the screen is mounted. */
  readonly base: string
  /** Key of the open tab. */
  readonly tab: string
  readonly vars: Readonly<Record<string, unknown>>
  readonly texts: ReaderTexts
  /** Whether the user may manage the lazy comments. */
  readonly hasComments: boolean
  /** Whether the requested tab shows one user's sessions. */
  readonly isPerson: boolean
  /** Whether the people who are signed in can be listed. */
  readonly hasDirectory: boolean
  /** Name of the user of the screen. */
  readonly userName: string
  /** URL of the site, for a link back to it. */
  readonly siteUrl: string | undefined
  /** The only tab that this user may see; undefined means all. */
  readonly only: 'comments' | undefined
}

/** Returns the header and the outline of the content, which are visible until the script renders the screen. */
export function adminFrame(parts: FrameParts): string {
  const { base, tab, vars, texts, hasComments, only } = parts
  const tabs = tabsFor(only, hasComments)
  const links = tabs.map(({ key }) => {
    const current = key === tab ? ' aria-current="page"' : ''
    return `<a href="${htmlText(`${base}/${key}`)}"${current}>${htmlText(texts.say(`admin_tab_${key}`))}</a>`
  })
  const isWide = tabs.some((one) => one.key === tab && one.wide)
  const outline =
    tab === 'sessions' ? sessionsOutline(parts) : tab === 'activity' ? TITLE + SEARCH + TABLE : PANEL + PANEL
  return (
    `<header class="top"><div class="brand"><span class="brand-mark"></span><h1>${htmlText(String(vars.name ?? ''))}</h1>` +
    `<span class="badge">${htmlText(String(vars.version ?? ''))}</span>${whoAndBack(parts)}</div>` +
    `<nav class="tabs" aria-label="${htmlText(texts.say('admin_nav'))}">${links.join('')}</nav></header>` +
    `<main class="column${isWide ? ' wide' : ''}"><div class="stack" id="sessmgr-outline" role="status">` +
    `<span class="unseen">${htmlText(texts.say('admin_loading'))}</span>${outline}</div></main>`
  )
}

const BONE = '<span class="bone"></span>'
const PANEL = `<div class="panel skeleton" aria-hidden="true"><span class="bone wide"></span>${BONE}<span class="bone field-bone"></span></div>`
const TITLE = '<div class="title-bones"></div>'
const FIGURES = '<div class="figures-bones"></div>'
const SEARCH = '<div class="search-bones"></div>'
const TABLE =
  '<div class="table-card" aria-hidden="true"><div class="table-bar"></div><div class="head-bones"></div>' +
  `${`<div class="row-bones">${BONE}</div>`.repeat(8)}</div>`

/** Returns the outline of the Sessions tab. The script renders the same until it has the list. */
function sessionsOutline({ isPerson, hasDirectory }: FrameParts): string {
  if (isPerson) return `<div class="title-bones person"></div>${TABLE}`
  return hasDirectory ? TITLE + FIGURES + SEARCH + TABLE : TITLE + SEARCH
}

function whoAndBack({ userName, siteUrl, texts }: FrameParts): string {
  const text = `<span class="back-mark arrow" aria-hidden="true">←</span><span>${htmlText(texts.say('admin_back_to_site'))}</span>`
  const back = siteUrl && `<a href="${htmlText(siteUrl)}">${text}</a>`
  return `<p class="who"><bdi>${htmlText(userName)}</bdi>${back ?? ''}</p>`
}
