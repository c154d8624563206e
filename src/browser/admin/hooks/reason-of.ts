/** Says in words what was thrown, which may be anything, even what cannot be made a text. */
export function reasonOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown)
  } catch {
    return typeof thrown
  }
}
