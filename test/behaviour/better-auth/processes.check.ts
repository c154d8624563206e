import { it } from 'vitest'
import { expectExactProcesses } from '../../support/better-auth-workers.ts'

// The campaign has 200 sign-ins a process, and SQLite and PostgreSQL.
it('three processes on Redis keep the limit, although one is killed', () => expectExactProcesses('redis', 20))
