/** Tells whether a store says that a session is missing, as stores in the file tradition do. */
export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 'ENOENT'
}
