import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { hookCatalogue } from '../../src/index.ts'
import { readRoutes } from './openapi.ts'
import { ROOT } from './pages.ts'
import { readPublicApi } from './public-api.ts'
import { restErrors } from './rest-errors.ts'

const FILE = join(ROOT, 'docs/stable-names.md')
const TITLE = `# Stable names

What stands here keeps its name and its meaning in every minor and patch release; see [migration](migration.md).

This page is written by \`npx vitest run test/docs --update\`, which adds what is new. A name that is gone fails the test:
it may go with a major release alone, and then its line is taken out by hand.
`

/** What people import, with the file behind each. */
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }
const DOORS = Object.fromEntries(
  Object.keys(exports)
    .filter((key) => /^\.(\/\w+)?$/.test(key))
    .map((key) => [key.replace('.', 'sessmgr'), `src/${key === '.' ? 'index' : key.slice(2)}.ts`]),
)

type Names = Map<string, readonly string[]>

/** Reads the lists of the page: each heading with the names below it. */
function parse(text: string): Names {
  const names: Names = new Map()
  let heading = ''
  for (const line of text.split('\n')) {
    heading = /^## (.*)$/.exec(line)?.[1] ?? heading
    const name = /^- `(.*)`$/.exec(line)?.[1]
    if (name !== undefined) names.set(heading, [...(names.get(heading) ?? []), name])
  }
  return names
}

function print(names: Names): string {
  const sections = [...names].map(
    ([heading, list]) => `\n## ${heading}\n\n${list.map((name) => `- \`${name}\`\n`).join('')}`,
  )
  return TITLE + sections.join('')
}

/** The names of the code, and those of the page that the code has no longer. */
function both(current: Names, listed: Names): Names {
  const headings = [...new Set([...current.keys(), ...listed.keys()])]
  return new Map(
    headings.map((heading) => {
      const all = [...(current.get(heading) ?? []), ...(listed.get(heading) ?? [])]
      return [heading, [...new Set(all)].sort()]
    }),
  )
}

function signatures(hooks: Readonly<Record<string, { readonly parameters: readonly string[] }>>): string[] {
  return Object.entries(hooks).map(([name, { parameters }]) => `${name}(${parameters.join(', ')})`)
}

async function namesOfTheCode(): Promise<Names> {
  const { doors, errorCodes } = readPublicApi(DOORS)
  const routes = await readRoutes()
  return new Map([
    ['Actions', signatures(hookCatalogue.actions)],
    ['Filters', signatures(hookCatalogue.filters)],
    ['REST routes', routes.map(({ method, path }) => `${method} ${path}`)],
    ['REST error codes', restErrors()],
    ['Codes of SessmgrError', errorCodes],
    ...doors.flatMap(({ name, values, types, members }) => [
      [`Exports of ${name}`, values] as const,
      [`Types of ${name}`, types] as const,
      ...Object.entries(members).map(([type, names]) => [`Members of ${type}`, names] as const),
    ]),
  ])
}

const listed = parse(existsSync(FILE) ? readFileSync(FILE, 'utf8') : '')
let current: Names
beforeAll(async () => {
  current = await namesOfTheCode()
}, 240_000)

describe('the stable names', () => {
  it('are found in the code', () => {
    expect(current.get('Filters')).toContain('sessmgr_bypass(bypass, user_id)')
    expect(current.get('REST routes')).toContain('DELETE /lazycomments/v1/cache')
    expect(current.get('REST error codes')).toContain('403 rest_cross_origin')
    expect(current.get('Codes of SessmgrError')).toContain('login_limit_reached')
    expect(current.get('Exports of sessmgr')).toContain('sessmgr')
    expect(current.get('Types of sessmgr/redis')).toContain('RedisStoreOptions')
    expect(current.get('Members of SessmgrOptions')).toContain('touchEvery')
    expect(current.get('Members of Sessmgr')).toContain('sessions')
  })

  it('are all still there', () => {
    const gone = [...listed].flatMap(([heading, names]) =>
      names.filter((name) => !current.get(heading)?.includes(name)).map((name) => `${heading}: ${name}`),
    )
    expect(gone, 'These names are promised to stay, and the code has them no longer.').toEqual([])
  })

  it('are all listed; `npx vitest run test/docs --update` adds the new ones', async () => {
    await expect(print(both(current, listed))).toMatchFileSnapshot(FILE)
  })
})
