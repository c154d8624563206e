// Vitest calls this before a run. Tests of the program, of the admin screen and of the built package would otherwise
// pass or fail for sources that are no longer there.
import { existsSync, readFileSync } from 'node:fs'
import { BUILD_STAMP, hashOfBuildInputs } from './build-inputs.mjs'

export default function noticeOldBuild() {
  if (existsSync(BUILD_STAMP) && readFileSync(BUILD_STAMP, 'utf8') === hashOfBuildInputs()) return
  console.warn('dist/ is not built from these sources, and some tests use it. Run `npm run build`.')
}
