import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { type Sessmgr, SessmgrError } from 'sessmgr'
import type { User } from './users.ts'

const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'MyCompanyApp/5.0',
]
const NETWORKS = ['192.0.2', '198.51.100', '203.0.113', '192.168.1']
const DAY = 24 * 60 * 60_000
const AT_ONCE = 20

/**
 * Signs users in `count` times, with different browsers and addresses, so that the admin screen has something to show.
 * Every third login is for the first user, the admin. Where the limit refuses logins, users get no more sessions than
 * it allows, and the admin gets one fewer.
 *
 * @param middleware The session middleware, sessmgr and Passport, as in the application.
 */
export async function seedSessions(
  count: number,
  users: readonly User[],
  limiter: Pick<Sessmgr, 'explain'>,
  middleware: readonly RequestHandler[],
): Promise<void> {
  const userOf = (number: number) => users[number % 3 === 0 ? 0 : number % users.length] as User
  const full = new Set<User>()
  const admin = users[0] as User
  const { mode, maximum, live } = await limiter.explain(admin.id)
  let adminPlaces = mode === 'block' || mode === 'ask' ? maximum - live.length - 1 : count
  function hasPlace(user: User): boolean {
    if (user === admin) adminPlaces -= 1
    return !full.has(user) && (user !== admin || adminPlaces >= 0)
  }
  const app = express()
  // Each login sends its address in the X-Forwarded-For header.
  app.set('trust proxy', true)
  app.use(...middleware)
  app.post('/:number', (req, res, next) => {
    const number = Number(req.params.number)
    const user = userOf(number)
    req.logIn(user, (error) => {
      if (error instanceof SessmgrError && error.status < 500) {
        full.add(user)
        return res.end()
      }
      if (error) return next(error)
      req.session.cookie.maxAge = (number % 2 === 0 ? 14 : 2) * DAY
      res.end()
    })
  })
  // Exclusive, because cluster workers would otherwise share the port.
  const server = createServer(app).listen({ port: 0, host: '127.0.0.1', exclusive: true })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  async function signIn(number: number): Promise<void> {
    const ip = `${NETWORKS[number % NETWORKS.length]}.${1 + (number % 250)}`
    const headers = { 'user-agent': AGENTS[number % AGENTS.length] as string, 'x-forwarded-for': ip }
    const response = await fetch(`http://127.0.0.1:${port}/${number}`, { method: 'POST', headers })
    if (!response.ok) throw new Error(`login ${number} failed with ${response.status}`)
    await response.arrayBuffer()
  }
  try {
    for (let first = 0; first < count; first += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => first + index)
      await Promise.all(numbers.filter((number) => hasPlace(userOf(number))).map(signIn))
    }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
