import { expect, it } from 'vitest'
import { textCatalogue } from '../../../src/index.ts'

/** Translations are written for these keys, and for the placeholders that each text may have. */
it('texts keep their keys and placeholders; `npx vitest run test/unit/texts --update` notes a change', async () => {
  const lines = Object.entries(textCatalogue.texts).map(([key, text]) => {
    const places = [...new Set(text.match(/\{\w+\}/g))].toSorted()
    return [key, ...places].join(' ')
  })
  await expect(`${lines.toSorted().join('\n')}\n`).toMatchFileSnapshot('text-keys.txt')
})
