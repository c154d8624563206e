import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './pages.ts'

/** Folders whose code answers REST calls. */
const FOLDERS = ['src/routes', 'src/middleware', 'src/addons', 'src/auth']
/** Codes of a SessmgrError that `restErrorOf` passes on. */
const PASSED_ON = /const UNAVAILABLE\b[^=]*= \[([^\]]*)\]/

/** Lists every status and code that the code of the REST routes answers with, such as `404 user_not_found`. */
export function restErrors(): readonly string[] {
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .map((path) => join(ROOT, folder, String(path)))
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(path, 'utf8')),
  )
  const made = sources.flatMap((source) => [
    ...source.matchAll(/new RestError\(\s*(\d{3}),\s*'(\w+)'/g),
    ...[...source.matchAll(/errorBody\('(rest_\w+)', '[^']*', (\d{3})\)/g)].map(([all, code, status]) => [
      all,
      status,
      code,
    ]),
  ])
  const passedOn = sources.flatMap((source) => [...(PASSED_ON.exec(source)?.[1] ?? '').matchAll(/'(\w+)'/g)])
  const found = [...made.map(([, status, code]) => `${status} ${code}`), ...passedOn.map(([, code]) => `503 ${code}`)]
  return [...new Set(found)].sort()
}
