import { defineConfig } from 'vitest/config'
import { sources } from '../vitest.config.ts'

/**
 * The long race and fault suites, ten times as many rounds of those in `npm test`, and pages in each width and colour
 * scheme. One file after the other, so that each has the machine to itself. With ROUNDS, as many times as it says.
 */
export default defineConfig({
  ...sources,
  test: {
    include: [
      'test/campaign/**/*.campaign.ts',
      'test/contracts/served-by-fetch.check.ts',
      'test/behaviour/{endings,hosts}/held-requests.check.ts',
      'test/behaviour/jwt/attacks.test.ts',
      'test/behaviour/licenses/signed-license.test.ts',
      'test/behaviour/logins/{limit,parallel-logins,relogin}.test.ts',
      'test/behaviour/rest/fuzz.check.ts',
      'test/behaviour/rest/many-people.test.ts',
      'test/behaviour/stores/{every-interleaving,redis/failure}.check.ts',
      'test/browser/{account,admin-accessibility,admin-activity,admin-failures,admin-lists,admin-passwords}.test.ts',
      'test/browser/{choice,example-devices,layout-shift,triggers}.test.ts',
      'test/unit/extensions/signed-license.test.ts',
      'test/unit/hooks/wordpress-ordering.test.ts',
      'test/unit/limiter/decision/report-only.test.ts',
      'test/unit/limiter/{idle-release,model}.test.ts',
      'test/unit/stores/document/document-codec.test.ts',
    ],
    env: { ROUNDS: process.env.ROUNDS ?? '10' },
    testTimeout: 600_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    disableConsoleIntercept: true,
  },
})
