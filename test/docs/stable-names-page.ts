import { join } from 'node:path'
import { ROOT } from './pages.ts'
import type { Names } from './public-api.ts'

/** The page that promises names. */
export const STABLE_NAMES = join(ROOT, 'docs/stable-names.md')

const INTRODUCTION = `# Stable names

What stands here keeps its name and its meaning in every minor and patch release; see [migration](migration.md).

- **Members** of an interface are what you call, or implement for it. **Details** are names further inside: of what a
  method takes and gives, after the name of the method, and the words that a value may be, in quotes.
- **REST answers** are the fields of what a route answers with 200; \`[]\` stands for each entry of a list.
- **window.sessmgr** and the **admin screen** are there for scripts of [add-ons](admin-screen.md#extending-it).

This page is written by \`npx vitest run test/docs --update\`, which adds what is new. A name that is gone fails the test:
it may go with a major release alone, and then its line is taken out by hand.
`

/** Reads the lists of the page: each heading with the names below it. */
export function parseStableNames(text: string): Names {
  const names = new Map<string, readonly string[]>()
  let heading = ''
  for (const line of text.split('\n')) {
    heading = /^## (.*)$/.exec(line)?.[1] ?? heading
    const name = heading && /^- `(.*)`$/.exec(line)?.[1]
    if (name) names.set(heading, [...(names.get(heading) ?? []), name])
  }
  return names
}

/** Writes the page: the names of the code, and those that it promised before and that the code has no longer. */
export function printStableNames(current: Names, promised: Names): string {
  const headings = [...new Set([...current.keys(), ...promised.keys()])]
  const sections = headings.map((heading) => {
    const names = [...new Set([...(current.get(heading) ?? []), ...(promised.get(heading) ?? [])])].sort()
    return `\n## ${heading}\n\n${names.map((name) => `- \`${name}\`\n`).join('')}`
  })
  return INTRODUCTION + sections.join('')
}

/** Names each promise that the code has broken, with what to do about it. */
export function brokenPromises(current: Names, promised: Names): readonly string[] {
  return [...promised].flatMap(([heading, names]) =>
    names
      .filter((name) => !current.get(heading)?.includes(name))
      .map(
        (name) =>
          `"${heading}" promises \`${name}\`, and the code has it no longer. Keep it beside its new name, as ` +
          '"How a name is given up" in docs/migration.md says. In a major release alone: take its line out of ' +
          'docs/stable-names.md, and say so in a changeset.',
      ),
  )
}
