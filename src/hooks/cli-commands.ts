/** Takes the commands of add-ons. The action `sessmgr_cli_init` hands it over. */
export interface CliCommands {
  /**
   * Adds the commands of an add-on under its own name: `sessmgr <name> <command> …`.
   *
   * @param name Lowercase letters, digits and hyphens, beginning with a letter. No other command may have it.
   * @throws SessmgrError `invalid_option` for a bad name, one that is taken, and a command that cannot be run.
   */
  register(name: string, group: CliGroup): void
}

/** The commands of one add-on. */
export interface CliGroup {
  /** One line for `sessmgr --help`. */
  readonly description: string
  /** The commands by name; one at least. */
  readonly commands: Readonly<Record<string, CliCommand>>
}

/** One command of an add-on. */
export interface CliCommand {
  /** One line for `--help`. */
  readonly description: string
  /** The arguments in order: `<user>` is needed, `[role]` is not; the last may be any number: `<roles...>`. Default: none. */
  readonly arguments?: readonly string[] | undefined
  /** The options, `--role <role>` with a value or `--force` without, each with one line for `--help`. Default: none. */
  readonly options?: Readonly<Record<string, string>> | undefined
  /** Whether the command changes something; then it is refused over a store that the application does not share. Default false. */
  readonly changes?: boolean | undefined
  /**
   * Does the work; the exit code is 0 when it returns, and 1 when it throws.
   *
   * @param args The arguments as they were typed, those of `<roles...>` one by one.
   */
  run(call: CliCall, ...args: string[]): unknown
}

/** One run of a command. */
export interface CliCall {
  /** The given options in camel case without the hyphens: a string, or true for one without a value. */
  readonly options: Readonly<Record<string, string | true | undefined>>
  /** Writes a line to the standard output. */
  print(line: string): void
  /**
   * Writes rows in the format of the option `--format <format>`: `table` unless the command declares it and it is given.
   *
   * @param columns The columns in order; the format `ids` writes the first one only.
   */
  printRows(
    rows: readonly Readonly<Record<string, string | number | boolean | null>>[],
    columns: readonly string[],
  ): void
  /** Asks, unless the option `--yes` is declared and given. Without a yes the command ends with exit code 1. */
  confirm(question: string): Promise<void>
  /**
   * Makes the error to throw that ends the command with a sentence.
   *
   * @param exitCode 1: refused or not found, the default; 2: wrong usage.
   */
  failure(message: string, exitCode?: 1 | 2): Error
}
