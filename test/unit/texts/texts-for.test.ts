import { describe, expect, it, vi } from 'vitest'
import { type Texts, textCatalogue } from '../../../src/index.ts'
import { checkTexts, createTextsFor, type TextsOption } from '../../../src/texts/texts-for.ts'

const quiet = () => ({ warn: vi.fn(), error: vi.fn() })
const german: Texts = { lang: 'de', page_forbidden: 'Kein Zutritt', admin_live_other: '{count} Sitzungen' }

describe('the option `texts`', () => {
  it('gives every key that it does not have in English', () => {
    const { say } = createTextsFor(german, quiet())()
    expect([say('page_forbidden'), say('page_no_script')]).toEqual(['Kein Zutritt', textCatalogue.texts.page_no_script])
  })

  it('puts values in their places, and leaves a place alone that has none', () => {
    const { say } = createTextsFor(german, quiet())()
    expect([say('admin_live_other', { count: 3 }), say('admin_live_other')]).toEqual([
      '3 Sitzungen',
      '{count} Sitzungen',
    ])
  })

  it('is asked for each request as a function, and not where there is no request', () => {
    const option = vi.fn((request: { language: string }) => (request.language === 'de' ? german : undefined))
    const textsFor = createTextsFor(option, quiet())
    expect(textsFor({ language: 'de' }).say('lang')).toBe('de')
    expect(textsFor({ language: 'fr' }).say('lang')).toBe('en')
    expect(textsFor().say('lang')).toBe('en')
    expect(option).toHaveBeenCalledTimes(2)
  })

  it('stays English and warns once when the function fails or gives something else', () => {
    const fail = () => {
      throw new Error('no such language')
    }
    for (const option of [fail, async () => german, () => 'de']) {
      const logger = quiet()
      const textsFor = createTextsFor(option as TextsOption, logger)
      expect([textsFor({}).say('lang'), textsFor({}).say('lang')]).toEqual(['en', 'en'])
      expect(logger.warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('"texts"'), expect.anything())
    }
  })

  it('is refused at the start where it is no object of strings', () => {
    expect(() => checkTexts('texts', { lang: 5 })).toThrow('"texts.lang" must be a string')
    for (const option of [['de'], 'de', null]) {
      expect(() => checkTexts('texts', option)).toThrow('"texts" must be an object')
    }
  })
})
