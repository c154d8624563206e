import { ENGLISH } from './english.ts'
import type { TextKey } from './text-catalogue.ts'
import type { ReaderTexts } from './texts-for.ts'

const PREFIX = 'rest_'

/** A pattern for the English text of each REST message, the most specific first. */
const SENTENCES = Object.entries(ENGLISH)
  .filter(([key]) => key.startsWith(PREFIX))
  .map(([key, text]) => ({ key: key as TextKey, pattern: patternOf(text) }))

/**
 * Translates the message of a REST response. Looks it up by its English text, as gettext does, or else by its code, so
 * that code that throws errors need not know about languages.
 */
export function restSentence(sentence: string, { say, replaced }: ReaderTexts, code = ''): string {
  for (const { key, pattern } of SENTENCES) {
    const found = pattern.exec(sentence)
    if (found) return say(key, found.groups)
  }
  const ofCode = (PREFIX + code) as TextKey
  return replaced[ofCode] === undefined ? sentence : say(ofCode)
}

function patternOf(text: string): RegExp {
  const literal = text.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^${literal.replaceAll(/\{(\w+)\}/g, '(?<$1>.+?)')}$`)
}
