import { htmlText } from '../../../ground/answer-body.ts'

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

/** What can stand in HTML: markup as it is, a string escaped, a list one after the other, and nothing of the rest. */
export type Part = Markup | string | number | readonly Part[] | undefined | null | false

/** Builds HTML. Strings in it are escaped. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(literals.map((literal, index) => literal + textOf(parts[index])).join(''))
}

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text
  if (Array.isArray(part)) return part.map(textOf).join('')
  return part === undefined || part === null || part === false ? '' : htmlText(String(part))
}
