import { resolveOptions, type SessmgrOptions } from '../../src/service/resolve-options.ts'

/** Returns what `sessmgr()` throws for options that TypeScript would reject. */
export function optionsRefusal(options: unknown): { code: string; message: string } {
  try {
    resolveOptions(options as SessmgrOptions)
  } catch (error) {
    return error as { code: string; message: string }
  }
  throw new Error(`${JSON.stringify(options)} was accepted`)
}
