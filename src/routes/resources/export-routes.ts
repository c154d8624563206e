import * as z from 'zod/mini'
import { csvRow, RestDownload } from '../download.ts'
import { type RestRoute, restRoute } from '../router.ts'
import {
  type PeopleSelection,
  type PersonRow,
  peoplePage,
  personRows,
  type SelectionParameters,
  selection,
  selectionOf,
} from './people-page.ts'
import { checkIdentifier, type RouteParts, requireUser, type UserParameters, userFields } from './route-parts.ts'
import { type SessionRow, sessionRows } from './sessions-routes.ts'

const PAGE = 100

const time = (seconds: number) => new Date(seconds * 1000).toISOString()

const PEOPLE: Columns<PersonRow> = {
  id: ({ user }) => user.id,
  login: ({ user }) => user.login,
  display_name: ({ user }) => user.display_name,
  email: ({ user }) => user.email,
  sessions: ({ live }) => live,
  maximum: ({ maximum }) => maximum,
  over: ({ over }) => over,
  computers: ({ devices }) => devices.computers,
  phones: ({ devices }) => devices.phones,
  tablets: ({ devices }) => devices.tablets,
  tvs: ({ devices }) => devices.tvs,
  programs: ({ devices }) => devices.programs,
  unknown: ({ devices }) => devices.unknown,
  last_seen: ({ last_seen }) => time(last_seen),
  signed_in: ({ signed_in }) => time(signed_in),
  ip: ({ ip }) => ip,
  place: ({ place }) => place,
  places: ({ places }) => places,
}

const SESSIONS: Columns<SessionRow> = {
  token: ({ token }) => token,
  created: ({ created }) => time(created),
  last_seen: ({ last_seen }) => time(last_seen),
  expires: ({ expires }) => time(expires),
  device: ({ device }) => device.name,
  kind: ({ device }) => device.kind,
  ip: ({ ip }) => ip,
  place: ({ place }) => place,
  user_agent: ({ user_agent }) => user_agent,
  same_browser: ({ same_browser }) => same_browser,
  label: ({ label }) => label,
  counts: ({ counts }) => counts,
  actor: ({ actor }) => actor,
  bound: ({ bound }) => bound,
}

const FORMATS = ['csv', 'json'] as const

/** The parameter with the format of the file. */
const format = z.optional(z.enum(FORMATS, `must be one of ${FORMATS.join(', ')}`))

type ExportFormat = (typeof FORMATS)[number]

/** The properties that all export routes share. */
const EXPORT = { methods: ['GET'], access: 'manage_options', mediaTypes: ['text/csv', 'application/json'] } as const

/** Returns the routes that download the people who are signed in, or the sessions of one user. */
export function exportRoutes(parts: RouteParts): readonly RestRoute[] {
  const { limiter, host, textsFor } = parts
  return [
    restRoute<SelectionParameters & { format?: ExportFormat }>({
      ...EXPORT,
      path: '/sessmgr/v1/people/export',
      summary:
        'Downloads the list of signed-in people. In CSV, cells that a spreadsheet would run as a formula begin with an apostrophe. Needs the `directory` option.',
      schemas: () => ({ params: z.object({ ...selection, format }), response: z.string() }),
      async handle({ params: { format = 'csv', ...selected } }) {
        return exportRows('people', format, PEOPLE, allPeople(parts, selectionOf(selected)))
      },
    }),
    restRoute<UserParameters & { format?: ExportFormat }>({
      ...EXPORT,
      path: '/sessmgr/v1/sessions/export',
      summary: "Downloads a user's live sessions, oldest first.",
      schemas: () => ({ params: z.object({ ...userFields, format }), response: z.string() }),
      precheck: checkIdentifier,
      async handle({ params: { format = 'csv', ...who }, caller, request }) {
        const { id } = host.users.summary(await requireUser(host.users, who))
        const records = await limiter.sessions.list(id)
        const rows = await sessionRows(parts, records, { caller, pattern: textsFor(request).say('account_device') })
        async function* pages() {
          yield rows
        }
        return exportRows('sessions', format, SESSIONS, pages())
      },
    }),
  ]
}

async function* allPeople(parts: RouteParts, { sort, ...selected }: PeopleSelection) {
  // An export contains all people, but only a limited number can be sorted by places.
  const order = sort === 'places' ? 'most' : sort
  const settings = await parts.limiter.settings.get()
  let cursor: string | undefined
  do {
    const { people, next } = await peoplePage(parts, { ...selected, sort: order, cursor }, PAGE, settings)
    yield await personRows(parts, people)
    cursor = next
  } while (cursor !== undefined)
}

/** The columns of a CSV file, and how each is read from a row. */
type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>

/** Returns rows as a CSV file or a JSON array, which is sent while `pages` is still being read. */
function exportRows<Row>(
  name: string,
  format: ExportFormat,
  columns: Columns<Row>,
  pages: AsyncIterable<readonly Row[]>,
): RestDownload {
  if (format === 'json') return new RestDownload(`${name}.json`, 'application/json; charset=utf-8', jsonOf(pages))
  return new RestDownload(`${name}.csv`, 'text/csv; charset=utf-8', csvOf(columns, pages))
}

async function* csvOf<Row>(columns: Columns<Row>, pages: AsyncIterable<readonly Row[]>) {
  const read = Object.values(columns)
  let start = csvRow(Object.keys(columns))
  for await (const rows of pages) {
    // The header is sent with the first page, so if reading that page fails, nothing has been sent yet.
    yield start + rows.map((row) => csvRow(read.map((cell) => cell(row)))).join('')
    start = ''
  }
  yield start
}

async function* jsonOf(pages: AsyncIterable<readonly unknown[]>) {
  let start = '['
  for await (const rows of pages) {
    if (rows.length === 0) continue
    yield `${start}\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`
    start = ','
  }
  yield start === '[' ? '[]\n' : '\n]\n'
}
