import { htmlText } from '../../ground/answer-body.ts'
import type { ReaderTexts } from '../../texts/texts-for.ts'

const TABS = ['sessions', 'settings', 'comments', 'addons', 'support'] as const

/** The data of the frame. */
export interface FrameParts {
  /** Path where the screen is mounted. */
  readonly base: string
  /** Key of the requested tab, or an empty string for the first. */
  readonly tab: string
  readonly vars: Readonly<Record<string, unknown>>
  readonly texts: ReaderTexts
  /** Whether the user may manage the lazy comments. */
  readonly hasComments: boolean
  /** The only tab that this user may see; undefined means all. */
  readonly only: 'comments' | undefined
}

/** Returns the header and the outline of the content, which are visible until the script renders the screen. */
export function adminFrame({ base, tab, vars, texts, hasComments, only }: FrameParts): string {
  const tabs = TABS.filter((key) => (only ? key === only : key !== 'comments' || hasComments))
  const open = tab === '' ? tabs[0] : tab
  const links = tabs.map((key) => {
    const current = key === open ? ' aria-current="page"' : ''
    return `<a href="${htmlText(`${base}/${key}`)}"${current}>${htmlText(texts.say(`admin_tab_${key}`))}</a>`
  })
  const bones = '<span class="bone wide"></span><span class="bone"></span><span class="bone field-bone"></span>'
  const panel = `<div class="panel skeleton" aria-hidden="true">${bones}</div>`
  return (
    `<header class="top"><div class="brand"><span class="brand-mark"></span><h1>${htmlText(String(vars.name ?? ''))}</h1>` +
    `<span class="badge">${htmlText(String(vars.version ?? ''))}</span></div>` +
    `<nav class="tabs" aria-label="${htmlText(texts.say('admin_nav'))}">${links.join('')}</nav></header>` +
    `<main class="column"><div class="stack" role="status">` +
    `<span class="unseen">${htmlText(texts.say('admin_loading'))}</span>${panel}${panel}</div></main>`
  )
}
