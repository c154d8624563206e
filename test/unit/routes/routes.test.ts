import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { HostRequest, RoutedRequest } from '../../../src/door/host-types.ts'
import { bodyText } from '../../../src/routes/body.ts'
import { basicCredentials } from '../../../src/routes/caller.ts'
import { csvRow } from '../../../src/routes/download.ts'
import { guestLoginAddress, loginAddress } from '../../../src/routes/page-addresses.ts'

const encode = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64')

describe('a Basic header', () => {
  it('names a user and a password, in UTF-8, with colons in the password, the scheme in any case and blanks', () => {
    for (const [text, name, password] of [
      ['admin:abcd efgh', 'admin', 'abcd efgh'],
      ['admin:a:b::', 'admin', 'a:b::'],
      ['admin:', 'admin', ''],
      ['jörg:pässwörd€', 'jörg', 'pässwörd€'],
    ] as const) {
      expect(basicCredentials(`Basic ${encode(text)}`)).toEqual({ name, password })
    }
    expect(basicCredentials(`bAsIc   ${encode('a:b')}  `)).toEqual({ name: 'a', password: 'b' })
  })

  it('is no pair of credentials if anything is wrong with it', () => {
    for (const [what, header] of [
      ['no blank after the scheme', `Basic${encode('a:b')}`],
      ['a scheme that begins alike', `Basically ${encode('a:b')}`],
      ['the alphabet for URLs', 'Basic Pz8_Oj8_'],
      ['two headers in one', `Basic ${encode('a:b')}, Basic ${encode('a:b')}`],
      ['too much padding', 'Basic YTpi==='],
      ['a line feed at its end', `Basic ${encode('a:b')}\n`],
      ['no colon', `Basic ${encode('admin')}`],
      ['no name', `Basic ${encode(':password')}`],
      ['a NUL in the name', `Basic ${encode('ad\0min:b')}`],
      ['a DEL in the password', `Basic ${encode('admin:b\x7f')}`],
      ['bytes that are no UTF-8', `Basic ${encode(Uint8Array.of(0x61, 0x3a, 0xff, 0xfe))}`],
    ] as const) {
      expect(basicCredentials(header), what).toBeUndefined()
    }
  })

  it('is refused without trying every way to read it when it is a megabyte of blanks, padding or letters', () => {
    // A pattern that tried them would be at it for hours, and the test with it.
    for (const filler of [' ', '=', 'A', 'A=', 'A ']) {
      expect(basicCredentials(`Basic ${filler.repeat(500_000)}!`)).toBeUndefined()
    }
  })
})

it('a body that another middleware has decoded is read, and a stream of anything but bytes and strings refused', async () => {
  const read = (parts: readonly unknown[]) => bodyText(Readable.from(parts) as unknown as RoutedRequest)
  expect(await read(['{"a":', Buffer.from('"ü"'), '}'])).toBe('{"a":"ü"}')
  await expect(read([{ a: 1 }])).rejects.toMatchObject({ status: 400 })
})

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

it('the page to return to is added to the address of a login page, before its fragment', () => {
  for (const [loginUrl, address] of [
    ['/login', '/login?redirect_to=%2Faccount%3Fpage%3D2'],
    ['/login?x=1', '/login?x=1&redirect_to=%2Faccount%3Fpage%3D2'],
    ['https://idp.example/login?x=1#form', 'https://idp.example/login?x=1&redirect_to=%2Faccount%3Fpage%3D2#form'],
  ] as const) {
    expect(loginAddress(loginUrl, '/account?page=2')).toBe(address)
  }
})

it('decision 86: the address of the login page carries a path of this site, and nothing in place of another', () => {
  const addressFor = (page: string) => guestLoginAddress({ headers: {} } as HostRequest, '/login', page)
  for (const page of ['/devices', '/admin/sessions?user=alice&page=2', '/a%20b?next=//evil.example', '/']) {
    expect(addressFor(page)).toBe(`/login?redirect_to=${encodeURIComponent(page)}`)
  }
  for (const page of [
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/a/..//evil.example',
    '/devices\\..\\..\\\\evil.example',
    'https://evil.example/devices',
    'javascript:alert(1)',
    '',
    '/\u2028',
  ]) {
    expect(addressFor(page), JSON.stringify(page)).toBe('/login')
  }
})
