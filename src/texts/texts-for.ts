import { messageOf } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { type Logger, logFailureOnce } from '../ground/logger.ts'
import { inWords } from '../ground/option-checks.ts'
import { englishText, type TextKey, type Texts } from './text-catalogue.ts'

/** Texts that replace the English ones: an object, or a function of your framework's request that returns one. */
// biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
export type TextsOption = Texts | ((request: any) => Texts | undefined)

/** Returns a text in the reader's language, with `values` in place of each `{name}`. */
export type Say = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

/** The texts for one reader. */
export interface ReaderTexts {
  readonly say: Say
  /** The texts that the application has replaced. */
  readonly replaced: Texts
}

/** Returns the texts for the reader of a request, or the default texts if no request is given. */
export type TextsFor = (request?: object) => ReaderTexts

/**
 * Checks texts, or accepts a function.
 *
 * @throws SessmgrError `invalid_option` if a text is not a string.
 */
export function checkTexts(name: string, texts: unknown): void {
  if (typeof texts === 'function') return
  if (!isTexts(texts)) {
    throw invalidOption(`"${name}" must be an object such as { login_blocked: "…" }, or a function that returns one`)
  }
  for (const [key, text] of Object.entries(texts)) {
    if (text !== undefined && typeof text !== 'string') throw invalidOption(`"${name}.${key}" must be a string`)
  }
}

/**
 * Returns a function that finds the texts for a request.
 *
 * If the application's function fails, the reader sees English texts and the first failure is logged. Unknown keys
 * are ignored, because any release may remove a text.
 */
export function createTextsFor(option: TextsOption = {}, logger: Logger): TextsFor {
  if (typeof option !== 'function') {
    const same = readerTexts(option)
    return () => same
  }
  const ask = option
  const english = readerTexts({})

  function textsFor(request?: object): ReaderTexts {
    if (request === undefined) return english
    try {
      const texts: unknown = ask(request) ?? {}
      // An async function counts as failed, and its own failure must not crash the process.
      if (texts instanceof Promise) texts.catch(() => {})
      if (!isTexts(texts)) throw new TypeError(`it returned ${inWords(texts)}`)
      return readerTexts(texts)
    } catch (error) {
      const problem = 'The "texts" function failed, so English texts are used.'
      logFailureOnce(logger, problem, { error: messageOf(error) })
      return english
    }
  }

  return textsFor
}

/** Returns the English texts with the given replacements. */
export function readerTexts(replaced: Texts): ReaderTexts {
  return {
    replaced,
    say(key, values = {}) {
      const own = replaced[key]
      const text = typeof own === 'string' ? own : englishText(key)
      return text.replaceAll(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole))
    },
  }
}

const isTexts = (value: unknown): value is Texts =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Promise)

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes a string for use between tags and inside quoted attributes. */
export function htmlText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
