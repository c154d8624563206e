import { describe, expect, it } from 'vitest'
import { basicCredentials } from '../../../src/routes/caller.ts'

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
      ['the scheme alone', 'Basic'],
      ['the scheme and blanks', 'Basic   '],
      ['no blank after the scheme', `Basic${encode('a:b')}`],
      ['another scheme', `Bearer ${encode('a:b')}`],
      ['a scheme that begins alike', `Basically ${encode('a:b')}`],
      ['no base64', 'Basic a:b'],
      ['the alphabet for URLs', 'Basic Pz8_Oj8_'],
      ['two headers in one', `Basic ${encode('a:b')}, Basic ${encode('a:b')}`],
      ['padding in the middle', 'Basic YTpi=YTpi'],
      ['too much padding', 'Basic YTpi==='],
      ['a line feed at its end', `Basic ${encode('a:b')}\n`],
      ['no colon', `Basic ${encode('admin')}`],
      ['no name', `Basic ${encode(':password')}`],
      ['a NUL in the name', `Basic ${encode('ad\0min:b')}`],
      ['a DEL in the password', `Basic ${encode('admin:b\x7f')}`],
      ['bytes that are no UTF-8', `Basic ${encode(Uint8Array.of(0x61, 0x3a, 0xff, 0xfe))}`],
      ['half a character of UTF-8', `Basic ${encode(Uint8Array.of(0x61, 0x3a, 0xc3))}`],
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
