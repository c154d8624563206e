import type { AddressInfo } from 'node:net'
import express from 'express'
import session from 'express-session'
import { expect, onTestFinished, test } from 'vitest'
import { type PasswordAttempt, sessmgr } from '../../../src/index.ts'
import { basic, RestClient } from '../../support/rest-client.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

/** Listens on both protocols, as servers do by default. Node then reports IPv4 clients as `::ffff:127.0.0.1`. */
async function start() {
  const users = createRestUsers()
  const attempts: PasswordAttempt[] = []
  const labelled: unknown[] = []
  const seen: unknown[] = []
  const limiter = sessmgr({
    settings: { maximum: 9 },
    directory: true,
    limits: { here: 5 },
    labelOf: ({ ip }) => {
      labelled.push(ip)
      return 'here'
    },
    logger: { warn() {}, error() {} },
    host: { ...restHostOf(users), attempts: { allow: () => true, failed: (attempt) => void attempts.push(attempt) } },
  })
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.use('/api', limiter.router())
  app.post('/login/:name', (req, res, next) => {
    seen.push(req.ip)
    const user = users.find(({ login }) => login === req.params.name)
    limiter.login(req, user).then(() => res.sendStatus(204), next)
  })
  const server = app.listen(0, '::')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await limiter.close()
  })
  const client = new RestClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const admin = basic('admin', (await limiter.passwords.create(1, 'script')).password)
  return { limiter, client, admin, attempts, labelled, seen }
}

test('decision 81: an IPv4 client has one address, wherever it is stored, compared and shown', async () => {
  const { limiter, client, admin, attempts, labelled, seen } = await start()
  await client.send('POST', '/login/alice')
  expect(seen).toEqual(['::ffff:127.0.0.1'])
  expect((await limiter.sessions.list(2)).map(({ ip }) => ip)).toEqual(['127.0.0.1'])
  expect(new Set(labelled)).toEqual(new Set(['127.0.0.1']))

  for (const q of ['127.0.0.1', '::ffff:127.0.0.1']) {
    const found = (await client.send('GET', `/api/sessmgr/v1/people/search?q=${q}`, { headers: admin })).json
    expect(found.address).toMatchObject({ ip: '127.0.0.1', people: [{ user: { login: 'alice' } }] })
    const events = (await client.send('GET', `/api/sessmgr/v1/audit?ip=${q}`, { headers: admin })).json.events
    expect(new Set(events.map(({ ip }: { ip: string }) => ip))).toEqual(new Set(['127.0.0.1']))
  }

  const wrong = basic('admin', 'wrong')
  expect((await client.send('GET', '/api/sessmgr/v1/settings', { headers: wrong })).status).toBe(401)
  expect(attempts).toEqual([{ ip: '127.0.0.1', name: 'admin' }])
})
