import { describe, expect, it } from 'vitest'
import { HOUSE_WORDS, PLAIN_WORDS, sentencesOf, wordFaults } from '../support/word-rules.ts'
import { type Page, pages, proseOf } from './pages.ts'

/** Read by people who change the code, and know its words. */
const FOR_CONTRIBUTORS = /^(CONTRIBUTING\.md|docs\/(architecture|rules)\.md|docs\/decisions\/.*)$/
const written = pages()
const faultsOf = (page: Page) => {
  const rules = FOR_CONTRIBUTORS.test(page.path) ? PLAIN_WORDS : [...PLAIN_WORDS, ...HOUSE_WORDS]
  return wordFaults(proseOf(page), rules).map((fault) => `${page.path}: ${fault}`)
}

describe('the English of the pages', () => {
  it('uses plain words and short sentences', () => {
    expect(written.length).toBeGreaterThan(30)
    expect(written.flatMap(faultsOf)).toEqual([])
  })

  it('would be refused with other words or longer sentences', () => {
    const text = [
      '# Who calls it',
      '',
      'A master alone *tells* it. Call `alone.tells()`, or',
      'the [host](hosts.md).',
      '',
      '| `a` | he answers |',
      '```ts',
      'const whoever = 1',
      '```',
      `- ${'word '.repeat(31)}.`,
    ].join('\n')
    const faults = faultsOf({ path: 'docs/made-up.md', text }).map((fault) => /"([^"]*)", better|\d+ words/.exec(fault))
    expect(faults.map((found) => found?.[1] ?? found?.[0])).toEqual([
      'Who',
      'alone',
      'master',
      'tells',
      'host',
      'he',
      'answers',
      '31 words',
    ])
    expect(faultsOf({ path: 'docs/rules.md', text: 'The door of a host.' })).toEqual([])
  })

  it('is split into sentences, without code', () => {
    expect(sentencesOf('## One\ntwo `a. B` and\nthree. Four [five](x.md).\n- six\n\n| seven | 8 |\n> nine')).toEqual([
      'One',
      'two `code` and three.',
      'Four five.',
      'six',
      'seven',
      'nine',
    ])
  })
})
