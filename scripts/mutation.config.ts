import { defineConfig } from 'vitest/config'
import { sources } from '../vitest.config.ts'

/** The tests that judge mutants: quick ones, about the parts that are mutated. */
export default defineConfig({
  ...sources,
  test: {
    include: [
      'test/unit/{auth,limiter,sessions,strategies,guard}/**/*.test.ts',
      'test/behaviour/activity/audit-option.test.ts',
      'test/behaviour/choice/{choice-api,overtaken-choice}.test.ts',
      'test/behaviour/endings/{ended-session,erased-user,expired-session,first-request,site-wide-logout}.test.ts',
      'test/behaviour/logins/{counting,cut-off-login,hooks,late-navigation,limit,lost-races,mode-table}.test.ts',
      'test/behaviour/logins/whole-login.test.ts',
      'test/behaviour/outages/{handed-on-errors,store-outage}.test.ts',
      'test/behaviour/rest/application-passwords.test.ts',
      'test/behaviour/stores/redis-{erasures,login,return}.test.ts',
    ],
    exclude: ['test/unit/limiter/model.test.ts', 'test/unit/limiter/parallel-logins.test.ts'],
    testTimeout: 20_000,
    // Loading the modules for each file would take most of the time.
    isolate: false,
  },
})
