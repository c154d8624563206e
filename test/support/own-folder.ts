import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates a folder, and removes it when the test has finished. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
