/** Describes an installed add-on in the `sessmgr_register_addon` filter. */
export interface AddonRegistration {
  /** Short name, as in its catalogue row. Not empty. */
  readonly slug: string
  /** Whether the add-on needs a license. `activate` uses this value instead of the one in the catalogue. */
  readonly is_premium: boolean
  /** Path of the add-on's main file. Must not be empty; sessmgr does not open it. */
  readonly main_file: string
  /** Public key of the product at the licensing provider. It is not a secret. Must not be empty. */
  readonly public_key: string
}

/** A row of the add-on catalogue. */
export interface AddonRow {
  /** Product id at the licensing provider. */
  readonly id: number
  /** Display name. */
  readonly title: string
  /** URL of a picture, or an empty string. */
  readonly icon: string
  /** URL where the add-on is available, or an empty string. */
  readonly link: string
  /** One or two sentences of plain text. */
  readonly description: string
  /** URL of a page about the add-on, or an empty string. */
  readonly homepage: string
  /** Whether the add-on needs a license. */
  readonly is_premium: boolean
  /** Whether the add-on is registered in this process, by the `sessmgr_register_addon` filter. */
  readonly is_active: boolean
  /** Whether a valid license is active on this site. */
  readonly is_license_active: boolean
  /** The license key that is active on this site, or an empty string. */
  readonly license_key: string
  /** URL of a wide picture, or an empty string. */
  readonly banner: string
  /** URL of a larger wide picture, or an empty string. */
  readonly banner_large: string
}

/** Registers add-on commands. Subscribers to the `sessmgr_cli_init` action receive this object. */
export interface CliCommands {
  /**
   * Adds the commands of an add-on under the add-on's name: `sessmgr <name> <command> …`.
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
   * Whether the command changes data. If so, the command is refused unless it shares the store with the application.
   * Default: false.
   */
  readonly changes?: boolean | undefined
  /**
   * Runs the command. The exit code is 0 if this returns; if it throws, 1 or the code passed to `failure`.
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
   * @param columns The columns in order. The `ids` format prints only the first.
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
