import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { consoleLogger } from '../../../src/ground/logger.ts'
import { ENGLISH } from '../../../src/texts/english.ts'
import { restSentence } from '../../../src/texts/rest-sentence.ts'
import { createTextsFor } from '../../../src/texts/texts-for.ts'

const shouted = Object.entries(ENGLISH).map(([key, text]) => [
  key,
  `${text.toUpperCase().replace(/\{(\w+)\}/gi, (hole) => hole.toLowerCase())}`,
])
const loud = createTextsFor(Object.fromEntries(shouted), consoleLogger)()

/** Every sentence that a source hands to an answer of the routes. */
function sentences(): string[] {
  const root = join(import.meta.dirname, '../../../src')
  const sources = ['middleware', 'routes', 'features'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')),
  )
  const calls = sources.flatMap(
    (source) => source.match(/(new RestError|invalidJson)\([^{}]*?\)|success: true, message: '[^']*'/g) ?? [],
  )
  return calls.flatMap((call) => call.match(/'[A-Z][^']* [^']*'/g) ?? []).map((text) => text.slice(1, -1))
}

describe('a sentence of a REST answer', () => {
  it('is in the catalogue, wherever it is written', () => {
    expect(sentences().length).toBeGreaterThan(15)
    expect(sentences().filter((text) => restSentence(text, loud) !== text.toUpperCase())).toEqual([])
  })

  it('that the catalogue does not have goes by its code, and else stays as it is', () => {
    expect(restSentence('Redis is away.', loud, 'store_unavailable')).toBe(
      'THE SERVER CANNOT REACH ITS STORE. TRY AGAIN.',
    )
    expect(restSentence('A provider says no.', loud, 'its_own')).toBe('A provider says no.')
    const plain = createTextsFor(undefined, consoleLogger)()
    expect(restSentence('Redis is away.', plain, 'store_unavailable')).toBe('Redis is away.')
  })
})
