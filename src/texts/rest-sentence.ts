import { ENGLISH } from './english.ts'
import type { TextKey } from './text-catalogue.ts'
import type { ReaderTexts } from './texts-for.ts'

const PREFIX = 'rest_'

/** Every sentence of the routes as a pattern. What is more exact stands before what would match it too. */
const SENTENCES = Object.entries(ENGLISH)
  .filter(([key]) => key.startsWith(PREFIX))
  .map(([key, text]) => ({ key: key as TextKey, pattern: patternOf(text) }))

/**
 * Puts what a REST answer says into the language of its reader: by the English sentence, as gettext does, or else by the
 * code. So whatever throws an error of the routes needs to know nothing of languages.
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
