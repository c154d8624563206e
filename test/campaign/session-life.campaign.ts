import { afterAll, beforeAll, describe, it } from 'vitest'
import { checkLives, EACH_FRAMEWORK } from '../support/life-hosts.ts'
import { memoryLives, postgresLives, redisLives } from '../support/life-stores.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { useRedis } from '../support/use-redis.ts'

const RUNS = 150

const redis = useRedis()
let postgres: PostgresServer
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres?.stop())

describe.each(EACH_FRAMEWORK)(`rule 66: ${RUNS} lives of sessions by %s`, (framework) => {
  it('in memory', () => checkLives(framework, memoryLives(), RUNS))

  it('in Redis', () => checkLives(framework, redisLives(redis.client), RUNS))

  it('in PostgreSQL', () => checkLives(framework, postgresLives(postgres.pool()), RUNS))
})
