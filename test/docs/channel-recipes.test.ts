import { expect, it } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { createLimiterWorld } from '../support/limiter-world.ts'
import { runBlock } from './recipe-app.ts'

/** Signs in twice where one session is allowed, ends the session, and lets a login fail. */
async function happen() {
  const store = memoryStore()
  const { login, limiter } = createLimiterWorld({ store, settings: { maximum: 1, logic: 'block' } })
  await login(7)
  await login(7)
  await limiter.sessions.endAll(7)
  store.sessions.commit = () => Promise.reject(new TypeError('down'))
  await expect(login(7)).rejects.toThrow('down')
}

it('production.md, OpenTelemetry: counts and times logins and store calls, and closes each span', async () => {
  const noted: [name: string, attributes: object, value?: number][] = []
  const meter = {
    createCounter: (name: string) => ({ add: (_: number, attributes: object) => noted.push([name, attributes]) }),
    createHistogram: (name: string) => ({
      record: (value: number, attributes: object) => noted.push([name, attributes, value]),
    }),
  }
  const spans: object[] = []
  const tracer = {
    startSpan(name: string) {
      const span = { name, calls: [] as unknown[] }
      spans.push(span)
      return {
        setAttributes: (attributes: object) => span.calls.push(attributes),
        recordException: (error: Error) => span.calls.push(error.message),
        end: () => span.calls.push('end'),
      }
    },
  }
  runBlock('production', 5, { meter, tracer })
  await happen()
  const of = (wanted: string) => noted.filter(([name]) => name === wanted).map(([, attributes]) => attributes)
  const results = ['admitted', 'refused', 'failed']
  expect(of('sessmgr.logins')).toEqual(results.map((result) => ({ mode: 'block', result })))
  expect(of('sessmgr.sessions.ended')).toEqual([{ kind: 'app' }])
  expect(of('sessmgr.login.duration')).toEqual(results.map((result) => ({ result })))
  expect(of('sessmgr.store.duration')).toContainEqual({ operation: 'commit', 'error.type': 'TypeError' })
  expect(noted.flatMap(([, , value]) => value ?? []).every((value) => value >= 0)).toBe(true)
  const attributes = results.map((result) => ({ 'sessmgr.mode': 'block', 'sessmgr.result': result }))
  expect(spans).toEqual([
    { name: 'sessmgr.login', calls: [attributes[0], 'end'] },
    { name: 'sessmgr.login', calls: [attributes[1], 'end'] },
    { name: 'sessmgr.login', calls: [attributes[2], 'down', 'end'] },
  ])
})

it('production.md, Prometheus: counts logins, ended sessions, failed store calls and tries', async () => {
  const noted: unknown[] = []
  class Metric {
    constructor(private readonly options: { name: string }) {}
    inc = (labels: object) => noted.push([this.options.name, labels])
    observe = (value: number) => noted.push([this.options.name, value])
  }
  runBlock('production', 6, { Counter: Metric, Histogram: Metric })
  await happen()
  expect(noted).toEqual([
    ['sessmgr_logins_total', { mode: 'block', result: 'admitted' }],
    ['sessmgr_login_tries', 1],
    ['sessmgr_logins_total', { mode: 'block', result: 'refused' }],
    ['sessmgr_sessions_ended_total', { kind: 'app' }],
    ['sessmgr_store_errors_total', { operation: 'commit' }],
    ['sessmgr_logins_total', { mode: 'block', result: 'failed' }],
    ['sessmgr_login_tries', 1],
  ])
})
