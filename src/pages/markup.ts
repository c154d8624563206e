import { htmlText } from '../ground/answer-body.ts'

/** HTML that is safe to insert. Only {@link html} creates it. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/**
 * What can be inserted into HTML. Markup is inserted unchanged, strings are escaped, lists are joined, and other values
 * are dropped.
 */
export type Part = Markup | string | number | readonly Part[] | undefined | null | false

/** Builds HTML. Strings that are inserted into it are escaped. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(literals.map((literal, index) => literal + textOf(parts[index])).join(''))
}

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text
  if (Array.isArray(part)) return part.map(textOf).join('')
  return part === undefined || part === null || part === false ? '' : htmlText(String(part))
}
