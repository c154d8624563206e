import { describe, expect, it } from 'vitest'
import { declaredDefaults } from './declared-options.ts'
import { OPTION_TABLES, type OptionTable } from './option-tables.ts'
import { codeIn, type Page, pageAt, sectionOf, tableRows } from './pages.ts'

function rowsOf(page: Page, title: string): readonly (readonly string[])[] {
  if (!title.startsWith('|')) return tableRows(sectionOf(page, title).text.split(/^###? /m)[0] ?? '')
  const table = page.text.split('\n\n').find((text) => text.replaceAll(/ +/g, ' ').startsWith(`${title} |`))
  return tableRows(table ?? '')
}

/** A cell or a docstring as a bare value: `2,000`, `2000` and `'2000'` are the same. */
const bare = (text: string) => text.replaceAll(/(?<=\d),(?=\d{3})/g, '').replaceAll(/^[`']+|[`']+$/g, '')
const isValue = (text: string) => /^`.*`$/.test(text) || /^[\d,]+$/.test(text)
const isLiteral = (text: string) => /^('[^']*'|\d+|true|false)$/.test(text)

/** Tells in sentences which cells of a table say another default than the code has. */
async function wrongDefaults({ path, title, declared, real }: OptionTable, page: Page): Promise<string[]> {
  const said = new Map(declared.flatMap(([file, type]) => [...declaredDefaults(file, type)]))
  const values = new Map(Object.entries(await real()))
  return rowsOf(page, title).flatMap(([first, cell = '']) => {
    const name = codeIn(first)
    const value = values.get(name)
    const wrong: string[] = []
    if (value !== undefined && bare(cell) !== String(value)) wrong.push(`the code has ${value}`)
    const docstring = said.get(name)
    if (docstring !== undefined && !agree(cell, docstring)) wrong.push(`its docstring has ${docstring}`)
    if (docstring === undefined && value === undefined && isValue(cell))
      wrong.push('neither code nor docstring has one')
    return wrong.map((why) => `${path}, ${title}: the default of ${name} is ${cell || 'none'}, but ${why}`)
  })
}

function agree(cell: string, docstring: string): boolean {
  if (!isValue(cell) && !isLiteral(docstring)) return true
  // A function stands in the cell, what it gives in the docstring; and a docstring may go on after the value.
  const value = bare(cell).replace(/^\(\w+\) => /, '')
  return bare(docstring) === value || docstring.startsWith(`${value}:`) || docstring.startsWith(`${value},`)
}

/** Tells which numbers a table calls good that the code refuses, and which it calls bad that the code takes. */
function wrongRanges({ path, title, give }: OptionTable, page: Page): string[] {
  if (!give) return []
  const takes = (name: string, value: number) => {
    try {
      give(name, value)
      return true
    } catch {
      return false
    }
  }
  return rowsOf(page, title).flatMap(([first, , ...cells]) => {
    const name = codeIn(first)
    const [, from, to] = /\b(\d+(?:,\d{3})*) to (\d+(?:,\d{3})*)/.exec(cells.join(' ')) ?? []
    if (from === undefined || to === undefined) return []
    const [least, most] = [Number(bare(from)), Number(bare(to))]
    const tried = [least - 1, least, most, most + 1].map((value) => takes(name, value))
    return tried.join() === 'false,true,true,false' ? [] : [`${path}, ${title}: ${name} is not ${from} to ${to}`]
  })
}

describe('the defaults and ranges in the documentation', () => {
  it.each(OPTION_TABLES)('are those of the code: $path, $title', async (table) => {
    expect(rowsOf(pageAt(table.path), table.title).length).toBeGreaterThan(1)
    expect(await wrongDefaults(table, pageAt(table.path))).toEqual([])
    expect(wrongRanges(table, pageAt(table.path))).toEqual([])
  })
})
