import { tableOf } from './declared-options.ts'
import type { Route } from './openapi.ts'

const isOf = (...prefixes: readonly string[]) => {
  return (path: string) => prefixes.some((prefix) => path.startsWith(prefix))
}
const isOfAddons = isOf('/sessmgr/v1/addons', '/wp/v2/')
const isOfComments = isOf('/lazycomments/v1/')

/** The pages with a table of routes, and which routes each has. */
export const ROUTE_PAGES: Readonly<Record<string, (path: string) => boolean>> = {
  'docs/rest.md': (path) => !isOfAddons(path) && !isOfComments(path),
  'docs/blog/add-ons.md': isOfAddons,
  'docs/blog/lazy-comments.md': isOfComments,
}

/** Writes the table of a page's routes anew. Methods of one path that do the same share a row. */
export function withRouteTable({ path, text }: { path: string; text: string }, routes: readonly Route[]): string {
  const rows = new Map<string, string[]>()
  for (const route of routes.filter((route) => ROUTE_PAGES[path]?.(route.path))) {
    const same = `${route.path}\`\n${firstSentence(route.operation.summary)}`
    rows.set(same, [...(rows.get(same) ?? []), route.method])
  }
  const cells = [...rows].map(([same, methods]) => `\`${methods.join(', ')} ${same}`.split('\n'))
  const table = tableOf([['route', 'what it does'], ...cells])
  return text.replace(/(?<=<!-- routes, .* -->\n\n)[\s\S]*?(?=<!-- end -->)/, () => `${table}\n\n`)
}

/** The first sentence of a summary, up to a semicolon. Code in it may contain full stops. */
const firstSentence = (summary: string) => /^(.*?)(?:;|\.(?: |$))/s.exec(summary)?.[1] ?? summary
