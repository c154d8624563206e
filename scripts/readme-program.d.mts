/** The program at the top of the README. */
export interface ReadmeProgram {
  readonly esm: string
  readonly commonjs: string
  readonly typescript: string
  /** Shell lines that sign three browsers in and show which of them still are. */
  readonly tryOut: string
  readonly packages: readonly string[]
  readonly types: readonly string[]
}

export function readmeProgram(): ReadmeProgram
