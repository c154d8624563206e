import * as z from 'zod/mini'

/**
 * Returns the schema of a parameter that limits the entries of a page.
 *
 * @param most The highest limit, of up to three digits.
 */
export function pageLimit(most: number) {
  const range = `from 1 to ${most}`
  return z.string('must be set exactly once').check(
    z.regex(/^\d{1,3}$/, { error: `must be ${range}`, abort: true }),
    z.refine((text) => Number(text) >= 1 && Number(text) <= most, `must be ${range}`),
    z.describe(range),
  )
}
