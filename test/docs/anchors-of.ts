import { type Page, proseOf } from './pages.ts'

/** Returns the anchors of a page's headings, as GitHub and browsers name them. */
export function anchorsOf(page: Page): readonly string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title)
  return headings.map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )
}
