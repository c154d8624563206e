/** Ends a command with a sentence for the person who typed it. */
export class CliError extends Error {
  override readonly name = 'CliError'
  /** 1: refused or not found; 2: wrong usage. */
  readonly exitCode: 1 | 2

  constructor(exitCode: 1 | 2, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}
