import cluster from 'node:cluster'
import { MemoryStore } from 'express-session'
import { afterEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { warnOfLastingSessions, warnOfSeveralProcesses } from '../../../../src/guard/stores/warn-of-local-store.ts'
import { memoryStore, type SessmgrStore } from '../../../../src/index.ts'

const local = memoryStore()
const shared: SessmgrStore = { ...memoryStore(), local: false }

/** What is warned of, in order. */
function warnings(run: (logger: { warn(line: string): void; error(): void }) => void): string[] {
  const lines: string[] = []
  run({ warn: (line) => lines.push(line), error() {} })
  return lines
}

describe('a store that is the own one of each of several processes', () => {
  test.each([
    { env: { WEB_CONCURRENCY: '2' }, sign: 'WEB_CONCURRENCY is above 1' },
    { env: { WEB_CONCURRENCY: '1' }, sign: undefined },
    { env: {}, sign: undefined },
    { env: { instances: '4', NODE_APP_INSTANCE: '2' }, sign: undefined },
    { env: { pm_id: '0', instances: '1', NODE_APP_INSTANCE: '0' }, sign: undefined },
    { env: { pm_id: '0', instances: '2', NODE_APP_INSTANCE: '0' }, sign: 'PM2 runs several instances' },
    { env: { pm_id: '1', NODE_APP_INSTANCE: '1' }, sign: 'PM2 runs several instances' },
  ])('is warned of by $env: $sign', ({ env, sign }) => {
    const lines = warnings((logger) => warnOfSeveralProcesses(local, logger, env))
    expect(lines).toEqual(sign === undefined ? [] : [expect.stringContaining(`(${sign})`)])
    expect(lines.join()).toMatch(sign === undefined ? /^$/ : /redisStore\(\) from sessmgr\/redis/)
  })

  it('is warned of in a worker', () => {
    const { isWorker } = cluster
    Object.assign(cluster, { isWorker: true })
    onTestFinished(() => void Object.assign(cluster, { isWorker }))
    expect(warnings((logger) => warnOfSeveralProcesses(local, logger, {}))[0]).toContain('(this is a worker of node:')
  })

  it('is nothing to warn of where the processes share it', () => {
    expect(warnings((logger) => warnOfSeveralProcesses(shared, logger, { WEB_CONCURRENCY: '2' }))).toEqual([])
  })
})

describe('sessions that outlive what the limit knows of them', () => {
  class FileStore {}
  class LruMemory extends MemoryStore {}
  afterEach(() => void vi.unstubAllEnvs())

  it('are warned of once, in production with the advice against it', () => {
    const development = warnings((logger) => {
      warnOfLastingSessions(new FileStore(), local, logger)
      warnOfLastingSessions(new FileStore(), local, logger)
    })
    expect(development).toEqual([expect.stringContaining('The session store seems to survive a restart')])
    expect(development[0]).toContain('become valid again. Use a store that also survives')
    vi.stubEnv('NODE_ENV', 'production')
    const production = warnings((logger) => warnOfLastingSessions(new FileStore(), local, logger))
    expect(production).toEqual([expect.stringContaining('Do not run this in production')])
  })

  test.each([
    ['the memory store of express-session', new MemoryStore()],
    ['a store made from that', new LruMemory()],
    ['a map', new Map()],
    ['a store around a map, as @fastify/session has it', { store: new Map() }],
  ])('are none in %s', (_, store) => {
    expect(warnings((logger) => warnOfLastingSessions(store, local, logger))).toEqual([])
  })

  it('are none where sessmgr remembers as long, and may be in a store without a prototype', () => {
    expect(warnings((logger) => warnOfLastingSessions(new FileStore(), shared, logger))).toEqual([])
    expect(warnings((logger) => warnOfLastingSessions(Object.create(null), local, logger))).toHaveLength(1)
  })
})
