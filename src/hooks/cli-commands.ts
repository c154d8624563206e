/** Registers add-on commands. Subscribers to the action `sessmgr_cli_init` receive this object. */
export interface CliCommands {
  /**
   * Adds the commands of an add-on under its own name: `sessmgr <name> <command> …`.
   *
   * @param name Lowercase letters, digits and hyphens, starting with a letter. Must be unique.
   * @throws SessmgrError `invalid_option` for an invalid or duplicate name, or an invalid command.
   */
  register(name: string, group: CliGroup): void
}

/** The commands of one add-on. */
export interface CliGroup {
  /** One line for `sessmgr --help`. */
  readonly description: string
  /** The commands by name; at least one. */
  readonly commands: Readonly<Record<string, CliCommand>>
}

/** One command of an add-on. */
export interface CliCommand {
  /** One line for `--help`. */
  readonly description: string
  /**
   * The arguments in order: `<user>` is required, `[role]` is optional, and a final `<roles...>` takes any number.
   * Default: none.
   */
  readonly arguments?: readonly string[] | undefined
  /**
   * The options, such as `--role <role>` with a value or `--force` without one, each with a line for `--help`. Default:
   * none.
   */
  readonly options?: Readonly<Record<string, string>> | undefined
  /**
   * Whether the command changes data. If so, it is refused unless it shares the store with the application. Default:
   * false.
   */
  readonly changes?: boolean | undefined
  /**
   * Runs the command. The exit code is 0 if this returns, and 1 if it throws.
   *
   * @param args The arguments as typed. Each value of `<roles...>` is a separate argument.
   */
  run(call: CliCall, ...args: string[]): unknown
}

/** One run of a command. */
export interface CliCall {
  /** The options that were passed, with names in camel case. An option without a value is true. */
  readonly options: Readonly<Record<string, string | true | undefined>>
  /** Writes a line to standard output. */
  print(line: string): void
  /**
   * Writes rows in the format that the user chose with `--format <format>`, if the command declares that option.
   * Default: `table`.
   *
   * @param columns The columns in order. The format `ids` prints only the first.
   */
  printRows(
    rows: readonly Readonly<Record<string, string | number | boolean | null>>[],
    columns: readonly string[],
  ): void
  /**
   * Asks for confirmation, unless `--yes` is declared and was passed. If the user declines, the command ends with exit
   * code 1.
   */
  confirm(question: string): Promise<void>
  /**
   * Creates an error for you to throw. It ends the command with this message.
   *
   * @param exitCode 1, the default, if the request was refused or nothing was found; 2 for wrong usage.
   */
  failure(message: string, exitCode?: 1 | 2): Error
}
