import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { commentAssets } from '../../../../src/features/comments/comments-routes.ts'

test.each([
  ['script', commentAssets.script, 2450],
  ['style', commentAssets.style, 550],
])('the %s keeps within its size, compressed', (_name, { text }, limit) => {
  expect(text.length).toBeGreaterThan(100)
  expect(gzipSync(text, { level: 9 }).length).toBeLessThanOrEqual(limit)
})
