import { expect, it } from 'vitest'
import { FORMATS, printRows } from '../../../src/cli/output.ts'

const TOKEN = 'a'.repeat(64)
const COLUMNS = ['token', 'created', 'ip', 'user_agent']
const ROWS = [
  { token: TOKEN, created: '2026-03-01T12:00:00Z', ip: '192.0.2.1', user_agent: 'Mozilla/5.0 (X11; Linux x86_64)' },
  { token: 'b'.repeat(64), created: '2026-03-01T13:00:00Z', ip: null, user_agent: null },
]

type Row = Readonly<Record<string, string | number | boolean | null>>

function printed(rows: readonly Row[], format: string, width = 200): string {
  const written: string[] = []
  const write = (text: string) => void written.push(text)
  printRows(rows, rows === ROWS ? COLUMNS : ['key', 'value'], format, { write, width })
  return written.join('')
}

const value = (text: string) => [{ key: 'k', value: text }]

it('a table has the names of its columns above, and cells one below the other', () => {
  expect(printed(ROWS, 'table').split('\n')).toEqual([
    `${'TOKEN'.padEnd(64)}  ${'CREATED'.padEnd(20)}  ${'IP'.padEnd(9)}  USER_AGENT`,
    `${TOKEN}  2026-03-01T12:00:00Z  192.0.2.1  Mozilla/5.0 (X11; Linux x86_64)`,
    `${'b'.repeat(64)}  2026-03-01T13:00:00Z`,
    '',
  ])
})

it('a table cuts its last column to fit a terminal, and becomes a block for each row where that is too narrow', () => {
  for (const width of [130, 129, 110]) {
    const lines = printed(ROWS, 'table', width).trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width)
    expect(lines[1]).toMatch(width < 130 ? /^a{64} .*…$/ : /^a{64} .*x86_64\)$/)
  }
  for (const width of [108, 76]) {
    const [one, two, ...more] = printed(ROWS, 'table', width).split('\n\n')
    expect(one?.split('\n')).toEqual([
      `TOKEN       ${TOKEN}`,
      'CREATED     2026-03-01T12:00:00Z',
      'IP          192.0.2.1',
      'USER_AGENT  Mozilla/5.0 (X11; Linux x86_64)',
    ])
    expect([two?.split('\n').slice(2), more]).toEqual([['IP', 'USER_AGENT', ''], []])
  }
  // What its rows are named by is never cut; into a file or a pipe, nothing is.
  for (const width of [1, 40]) expect(printed(ROWS, 'table', width)).toContain(TOKEN)
  expect(printed(ROWS, 'table', 30)).toContain('USER_AGENT  Mozilla/5.0 (X11;…\n')
  const agent = 'x'.repeat(5000)
  expect(printed(value(agent), 'table', Number.POSITIVE_INFINITY)).toBe(`KEY  VALUE\nk    ${agent}\n`)
})

it('json is an array with every field as it is, and ids the first column alone, on one line', () => {
  expect(JSON.parse(printed(ROWS, 'json'))).toEqual(ROWS)
  expect(JSON.parse(printed(value('a\x1b"\n'), 'json'))).toEqual(value('a\x1b"\n'))
  expect(printed(ROWS, 'ids')).toBe(`${TOKEN} ${'b'.repeat(64)}\n`)
})

it('csv has a line of names, quotes what needs it, and gives a spreadsheet no formula to run', () => {
  expect(printed(ROWS, 'csv').split('\n')).toEqual([
    'token,created,ip,user_agent',
    `${TOKEN},2026-03-01T12:00:00Z,192.0.2.1,"Mozilla/5.0 (X11; Linux x86_64)"`,
    `${'b'.repeat(64)},2026-03-01T13:00:00Z,,`,
    '',
  ])
  expect(printed(value('say "hi", you\r\nand \x1b[2J'), 'csv')).toBe('key,value\nk,"say ""hi"", you  and  [2J"\n')
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '=cmd|"/c calc"!A1']) {
    const cell = printed(value(text), 'csv').split('\n')[1]?.slice('k,'.length)
    expect(cell).toMatch(/^"?'/)
    expect(cell?.replaceAll('""', '"')).toContain(text)
  }
})

it('any other format is none: exit code 2, with the names of those there are', () => {
  const refusal = { exitCode: 2, message: expect.stringContaining(FORMATS.join(', ')) }
  for (const format of ['xml', '', 'JSON']) {
    expect(() => printed(ROWS, format)).toThrow(expect.objectContaining(refusal))
  }
})
