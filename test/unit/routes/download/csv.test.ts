import { describe, expect, it } from 'vitest'
import { csvRow } from '../../../../src/routes/download/csv.ts'

describe('csvRow', () => {
  it.each([
    [['a', 2, null, undefined, true], 'a,2,,,true\r\n'],
    [['a,b', 'say "hi"', 'two\nlines', 'end\r\n'], '"a,b","say ""hi""","two\nlines","end\r\n"\r\n'],
    [['=1+1', '+1', '-1', '@sum', '\tx', '\rx'], "'=1+1,'+1,'-1,'@sum,'\tx,\"'\rx\"\r\n"],
    [['=HYPERLINK("http://x","y")'], '"\'=HYPERLINK(""http://x"",""y"")"\r\n'],
    [[-1, { a: 1 }], '-1,"{""a"":1}"\r\n'],
  ])('writes %j', (cells, row) => {
    expect(csvRow(cells)).toBe(row)
  })
})
