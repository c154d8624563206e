import { describe, expect, it } from 'vitest'
import { FORMATS, printRows } from '../../../src/cli/output.ts'

const TOKEN = 'a'.repeat(64)
const COLUMNS = ['token', 'created', 'ip', 'user_agent']
const ROWS = [
  { token: TOKEN, created: '2026-03-01T12:00:00Z', ip: '192.0.2.1', user_agent: 'Mozilla/5.0 (X11; Linux x86_64)' },
  { token: 'b'.repeat(64), created: '2026-03-01T13:00:00Z', ip: null, user_agent: null },
]

function printed(
  rows: readonly Record<string, string | number | boolean | null>[],
  format: string,
  width = 200,
): string {
  const written: string[] = []
  printRows(rows, rows === ROWS ? COLUMNS : ['key', 'value'], format, {
    write: (text) => void written.push(text),
    width,
  })
  return written.join('')
}

const value = (text: string) => [{ key: 'k', value: text }]

describe('a table', () => {
  it('has the names of its columns above, and cells one below the other', () => {
    const [head, first, second, ...rest] = printed(ROWS, 'table').split('\n')
    expect(rest).toEqual([''])
    expect(head).toBe(`${'TOKEN'.padEnd(64)}  ${'CREATED'.padEnd(20)}  ${'IP'.padEnd(9)}  USER_AGENT`)
    expect(first).toBe(`${TOKEN}  2026-03-01T12:00:00Z  192.0.2.1  Mozilla/5.0 (X11; Linux x86_64)`)
    expect(second).toBe(`${'b'.repeat(64)}  2026-03-01T13:00:00Z`)
  })

  it('cuts its last column to fit a terminal, and becomes a block for each row where it is too narrow', () => {
    for (const width of [130, 129, 110]) {
      const lines = printed(ROWS, 'table', width).trimEnd().split('\n')
      expect(lines).toHaveLength(3)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width)
      expect(lines[1]).toMatch(width < 130 ? /…$/ : /x86_64\)$/)
      expect(lines[1]).toContain(TOKEN)
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
  })

  it('never cuts what its rows are named by, however narrow the terminal is', () => {
    for (const width of [1, 10, 20, 40]) expect(printed(ROWS, 'table', width)).toContain(TOKEN)
    expect(printed(ROWS, 'table', 30)).toContain('USER_AGENT  Mozilla/5.0 (X11;…\n')
  })

  it('goes uncut into a file or a pipe', () => {
    const agent = 'x'.repeat(5000)
    expect(printed(value(agent), 'table', Number.POSITIVE_INFINITY)).toBe(`KEY  VALUE\nk    ${agent}\n`)
  })

  it('moves no cursor and rings no bell, whatever a user agent says', () => {
    const hostile = 'a\x1b[2J\x1b]0;title\x07\rb\nc\td\x9bK\0'
    for (const format of ['table', 'csv']) {
      const text = printed(value(hostile), format)
      expect(text.trimEnd().split('\n')).toHaveLength(2)
      expect([...text].filter((sign) => sign !== '\n' && (sign < ' ' || (sign >= '\x7f' && sign < '\xa0')))).toEqual([])
    }
  })
})

describe('the other formats', () => {
  it('json is an array with every field as it is', () => {
    expect(JSON.parse(printed(ROWS, 'json'))).toEqual(ROWS)
    expect(JSON.parse(printed(value('a\x1b"\n'), 'json'))).toEqual(value('a\x1b"\n'))
    expect(JSON.parse(printed([], 'json'))).toEqual([])
  })

  it('csv has a line of names, and quotes what needs it', () => {
    expect(printed(ROWS, 'csv').split('\n')).toEqual([
      'token,created,ip,user_agent',
      `${TOKEN},2026-03-01T12:00:00Z,192.0.2.1,"Mozilla/5.0 (X11; Linux x86_64)"`,
      `${'b'.repeat(64)},2026-03-01T13:00:00Z,,`,
      '',
    ])
    expect(printed(value('say "hi", you'), 'csv')).toBe('key,value\nk,"say ""hi"", you"\n')
    expect(printed(value('a\nb'), 'csv')).toBe('key,value\nk,"a b"\n')
  })

  it('csv gives a spreadsheet no formula to run', () => {
    for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '=cmd|"/c calc"!A1']) {
      const cell = printed(value(text), 'csv').split('\n')[1]?.slice('k,'.length)
      expect(cell).toMatch(/^"?'/)
      expect(cell?.replaceAll('""', '"')).toContain(text)
    }
  })

  it('ids is the first column alone, on one line', () => {
    expect(printed(ROWS, 'ids')).toBe(`${TOKEN} ${'b'.repeat(64)}\n`)
    expect(printed([], 'ids')).toBe('\n')
  })

  it('any other is none: exit code 2, with the names of those there are', () => {
    const refusal = { exitCode: 2, message: expect.stringContaining(FORMATS.join(', ')) }
    for (const format of ['xml', '', 'JSON']) {
      expect(() => printed(ROWS, format)).toThrow(expect.objectContaining(refusal))
    }
  })
})
