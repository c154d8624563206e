import { loadavg } from 'node:os'

/** The range that a figure should be in. */
export interface Goal {
  readonly atMost?: number
  readonly atLeast?: number
}

/** Prints tables in the format of the documentation, each once it is complete. */
export class Report {
  readonly #lines: string[] = []

  heading(text: string): void {
    this.#lines.push('', `### ${text}`, '')
  }

  /** Adds a table, and the load of the machine. Its first row contains the names of the columns. */
  table(rows: readonly (readonly string[])[]): void {
    const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
    const [head = [], ...body] = rows
    this.#lines.push(line(head), line(head.map(() => '---')), ...body.map(line))
    this.note(`\nLoad of the machine: ${loadavg()[0]?.toFixed(1)}.`)
  }

  note(text: string): void {
    this.#lines.push(text)
    this.#flush()
  }

  /** Shows what is being measured, on the terminal only. */
  progress(text: string): void {
    if (process.stderr.isTTY) process.stderr.write(`${text} …\n`)
  }

  #flush(): void {
    console.log(this.#lines.join('\n'))
    this.#lines.length = 0
  }
}

/** Formats a goal, and whether a value has missed it. */
export function judged(value: number, { atMost, atLeast }: Goal): string {
  const isMissed = value > (atMost ?? Number.POSITIVE_INFINITY) || value < (atLeast ?? Number.NEGATIVE_INFINITY)
  const goal = atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`
  return isMissed ? `${goal}, **missed**` : goal
}
