// Reads the results of `stryker run`. Fails if any part is below the threshold, even if others make up for it.
import { readFileSync } from 'node:fs'

const LEAST = 90
const PARTS = ['sessions', 'strategies', 'limiter', 'auth', 'door']

const { files } = JSON.parse(readFileSync(new URL('../reports/mutation/mutation.json', import.meta.url), 'utf8'))
const parts = new Map(PARTS.map((part) => [part, { noticed: 0, all: 0 }]))
for (const [path, { mutants }] of Object.entries(files)) {
  const part = path.split('/')[1]
  const counts = parts.get(part) ?? { noticed: 0, all: 0 }
  for (const { status } of mutants) {
    if (['Killed', 'Timeout'].includes(status)) counts.noticed += 1
    if (['Killed', 'Timeout', 'Survived', 'NoCoverage'].includes(status)) counts.all += 1
  }
  parts.set(part, counts)
}
for (const [part, { noticed, all }] of parts) {
  const score = all === 0 ? 0 : (100 * noticed) / all
  console.log(`${part}: the tests notice ${noticed} of ${all} mutants, ${score.toFixed(1)} %`)
  if (score < LEAST) {
    console.error(`${part} is below ${LEAST} %.`)
    process.exitCode = 1
  }
}
