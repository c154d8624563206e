import { expect, it } from 'vitest'
import { type SessmgrOptions, sessmgr } from '../../../src/index.ts'

const warningsOf = (options: SessmgrOptions) => {
  const lines: string[] = []
  sessmgr({ ...options, logger: { warn: (line) => void lines.push(line), error() {} } })
  return lines
}

it('warns of limits that the default of maximum leaves no room for', () => {
  const limits = { desktop: 1, mobile: 2 }
  expect(warningsOf({ limits })).toEqual([expect.stringMatching(/maximum: 3 .*#limits-without-maximum$/)])
  expect(warningsOf({ limits, settings: { maximum: 2 } })).toEqual([])
  expect(warningsOf({ limits: { desktop: 1 } })).toEqual([])
  expect(warningsOf({})).toEqual([])
})
