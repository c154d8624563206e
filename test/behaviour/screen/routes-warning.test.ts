import express from 'express'
import session from 'express-session'
import { describe, expect, onTestFinished, test } from 'vitest'
import { helpAt } from '../../../src/ground/help.ts'
import { type Sessmgr, type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

const SETTINGS = '/sessmgr/v1/settings'

async function start(arrange: (app: express.Express, limiter: Sessmgr) => unknown, options: SessmgrOptions = {}) {
  const logs: unknown[] = []
  const note = (line: unknown) => void logs.push(line)
  const host = restHostOf(createRestUsers())
  const limiter = sessmgr({ logger: { warn: note, error: note }, host, ...options })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.use('/admin', limiter.admin())
  arrange(app, limiter)
  return { browser: new Browser(await listen(app)), logs }
}

describe('the admin screen', () => {
  test('whose routes are not mounted says so once, at the first page', async () => {
    const { browser, logs } = await start(() => {})
    expect(logs).toEqual([])
    for (let times = 0; times < 2; times++) await browser.get('/admin')
    expect(logs).toEqual([
      expect.stringContaining("The admin screen needs the REST routes. Mount them: app.use('/api', limiter.router())."),
    ])
  })

  test('whose routes are elsewhere says so once, as soon as a call has arrived there', async () => {
    const { browser, logs } = await start((app, limiter) => app.use('/backend', limiter.router()))
    await browser.get('/admin')
    await browser.get(`/backend${SETTINGS}`)
    for (let times = 0; times < 2; times++) await browser.get('/admin')
    expect(logs).toEqual([
      'The admin screen calls the REST routes under "/api", but calls arrive under "/backend". ' +
        `Set the path: sessmgr({ restPath: '/backend' }). See ${helpAt('rest-routes-not-found')}`,
    ])
  })

  test.each([
    ['/api', {}],
    ['/backend', { restPath: '/backend' }],
    // A proxy takes /shop away.
    ['/api', { restPath: '/shop/api' }],
  ])('whose routes are at %s says nothing with %j', async (path, options) => {
    const { browser, logs } = await start((app, limiter) => app.use(path, limiter.router()), options)
    await browser.get(`${path}${SETTINGS}`)
    await browser.get('/admin')
    expect(logs).toEqual([])
  })
})
