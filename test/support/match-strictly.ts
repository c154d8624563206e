import { expect } from 'vitest'

const worker = globalThis as { matchesStrictly?: true }
const typeOf = (value: unknown) => Object.prototype.toString.call(value)

/**
 * In `toMatchObject`, an expected object without properties matches any value, and so does a RegExp. Here it matches
 * only values of its own type. Use `expect.stringMatching()` for the text.
 */
function differsInType(actual: unknown, expected: unknown): false | undefined {
  const isBare = Object(expected) === expected && Object.keys(expected as object).length === 0
  return isBare && typeOf(actual) !== typeOf(expected) ? false : undefined
}

// Files in one worker share its matchers.
if (!worker.matchesStrictly) expect.addEqualityTesters([differsInType])
worker.matchesStrictly = true
