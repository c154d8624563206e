import { expect, test } from 'vitest'
import { safeLogger } from '../../../src/ground/logger.ts'

const loggers: [string, () => void][] = [
  [
    'throws',
    () => {
      throw new Error('The disk is full.')
    },
  ],
  ['rejects', () => Promise.reject(new Error('The disk is full.'))],
]

test.each(loggers)('a logger that %s does no harm', async (_name, write) => {
  const logger = safeLogger({ warn: write, error: write })
  expect(() => logger.warn('a')).not.toThrow()
  expect(() => logger.error('a')).not.toThrow()
  await new Promise(setImmediate)
})

test('passes on what it is given', () => {
  const lines: unknown[][] = []
  const logger = safeLogger({ warn: (...line) => void lines.push(line), error: (...line) => void lines.push(line) })
  logger.warn('a', { b: 1 })
  logger.error('c')
  expect(lines).toEqual([['a', { b: 1 }], ['c']])
})
