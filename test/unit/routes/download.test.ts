import { expect, it } from 'vitest'
import { csvRow } from '../../../src/routes/download.ts'

it('a row of CSV is quoted where it must be, and never a formula', () => {
  for (const [cells, row] of [
    [['a', 2, null, undefined, true], 'a,2,,,true\r\n'],
    [['a,b', 'say "hi"', 'two\nlines', 'end\r\n'], '"a,b","say ""hi""","two\nlines","end\r\n"\r\n'],
    [['=1+1', '+1', '-1', '@sum', '\tx', '\rx'], "'=1+1,'+1,'-1,'@sum,'\tx,\"'\rx\"\r\n"],
    [['=HYPERLINK("http://x","y")'], '"\'=HYPERLINK(""http://x"",""y"")"\r\n'],
    [['\nx', '＝1', '＋1', '－1', '＠sum'], "\"'\nx\",'＝1,'＋1,'－1,'＠sum\r\n"],
    [
      [' =1', '\u00a0+1', '\ufeff-1', '\u200b@sum', ' \u2060\u3000＝1'],
      "' =1,'\u00a0+1,'\ufeff-1,'\u200b@sum,' \u2060\u3000＝1\r\n",
    ],
    [[' a', '\ufeffa', 'a=1', 'a@b', ''], ' a,\ufeffa,a=1,a@b,\r\n'],
    [['a;b', '\0=1', 'a\0b'], '"a;b",\'=1,ab\r\n'],
    [[-1, { a: 1 }], '-1,"{""a"":1}"\r\n'],
  ] as const) {
    expect(csvRow(cells)).toBe(row)
  }
})
