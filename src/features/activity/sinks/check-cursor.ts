const NAME = 'InvalidCursor'

/** Refuses a cursor that the sink cannot have returned. */
export function checkCursor(cursor: string | undefined, pattern: RegExp): void {
  if (cursor === undefined || pattern.test(cursor)) return
  throw Object.assign(new Error('"cursor" must be the `next` of a page'), { name: NAME })
}

/** Checks whether a sink, or the deadline around it, has failed because of the cursor. */
export function isInvalidCursor(error: unknown): boolean {
  const { name, cause } = (error ?? {}) as { name?: unknown; cause?: { name?: unknown } | undefined }
  return name === NAME || cause?.name === NAME
}
