import { messageOf } from '../ground/error-text.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import type { Logger } from '../ground/logger.ts'
import { inWords, nearestName } from '../ground/option-checks.ts'
import { type TextKey, type Texts, textCatalogue } from './text-catalogue.ts'

/** What the application says in place of the English sentences: the same to everybody, or by request. */
// biome-ignore lint/suspicious/noExplicitAny: the host alone knows the type of its requests.
export type TextsOption = Texts | ((request: any) => Texts | undefined)

/** Gives a sentence in the language of one reader, with values in place of `{name}`. */
export type Say = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

/** The sentences for one reader. */
export interface ReaderTexts {
  readonly say: Say
  /** The sentences that the application has replaced. */
  readonly replaced: Texts
}

/** Finds the sentences for the reader of a request; without a request there is nothing to choose a language by. */
export interface TextsFor {
  (request?: unknown): ReaderTexts
  /** Whether the sentences depend on the request. */
  readonly vary: boolean
}

/**
 * Checks the option `texts` once, and makes what finds the sentences for a request.
 *
 * A function that fails costs its reader the translation and nothing else; the log has the first failure.
 *
 * A key that there is not gets a warning and no more, so that a sentence may go in any release.
 *
 * @throws SessmgrError `invalid_option` for anything but strings.
 */
export function createTextsFor(option: TextsOption | undefined, logger: Logger): TextsFor {
  if (typeof option !== 'function') {
    const same = readerTexts(option === undefined ? {} : checkTexts(option, logger))
    return Object.assign(() => same, { vary: false })
  }
  const ask = option
  const english = readerTexts({})
  let hasWarned = false

  function textsFor(request?: unknown): ReaderTexts {
    if (request === undefined) return english
    try {
      const texts: unknown = ask(request) ?? {}
      if (!isTexts(texts)) throw new TypeError(`it returned ${inWords(texts)}`)
      return readerTexts(texts)
    } catch (error) {
      if (!hasWarned) logger.warn('The function "texts" failed; the texts are English.', { error: messageOf(error) })
      hasWarned = true
      return english
    }
  }

  return Object.assign(textsFor, { vary: true })
}

function readerTexts(replaced: Texts): ReaderTexts {
  return {
    replaced,
    say(key, values = {}) {
      const own = replaced[key]
      const text = typeof own === 'string' ? own : textCatalogue.texts[key]
      return text.replaceAll(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole))
    },
  }
}

const isTexts = (value: unknown): value is Texts =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Promise)

function checkTexts(texts: unknown, logger: Logger): Texts {
  if (!isTexts(texts)) {
    throw invalidOption('"texts" must be an object such as { login_blocked: "…" }, or a function that returns one')
  }
  for (const [key, text] of Object.entries(texts)) {
    if (!Object.hasOwn(textCatalogue.texts, key)) {
      const near = nearestName(key, Object.keys(textCatalogue.texts))
      logger.warn(`No sentence has the key "${key}" of "texts".${near ? ` Did you mean "${near}"?` : ' Remove it.'}`)
    }
    if (text !== undefined && typeof text !== 'string') throw invalidOption(`"texts.${key}" must be a string`)
  }
  return texts
}
