import autocannon from 'autocannon'
import { delayProxy, median, spread, startApp, startRedis, timings } from './support.ts'

const SESSIONS = 1000
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10)
const SECONDS = 3
const DELAY_MS = 20

/** Measures an authenticated request with and without the limit. */
export async function requestBench(print: (line: string) => void): Promise<void> {
  const redis = await startRedis()
  const plain = await subject('plain', redis.url)
  const guarded = await subject('protected', redis.url)
  for (const each of [plain, guarded]) await load(each, 2)

  const ratios: number[] = []
  const cpu: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // In turns, and in changing order, so that a slow moment of the machine hits both.
    const order = round % 2 ? [guarded, plain] : [plain, guarded]
    const [first, second] = [await load(order[0] ?? plain, SECONDS), await load(order[1] ?? plain, SECONDS)]
    const [unprotected, withLimit] = round % 2 ? [second, first] : [first, second]
    ratios.push(withLimit.perSecond / unprotected.perSecond)
    cpu.push(withLimit.cpuPerRequest / unprotected.cpuPerRequest)
  }
  print(
    `GET /me, requests/s, protected ÷ unprotected, 16 connections: ${median(ratios).toFixed(3)} (goal ≥ 1.00; ` +
      `${ROUNDS} rounds in turns, spread ±${spread(ratios).toFixed(0)} %)`,
  )
  print(`GET /me, CPU time of the process per request, protected ÷ unprotected: ${median(cpu).toFixed(3)}`)

  const proxied = `redis://127.0.0.1:${await delayProxy(redis.port, DELAY_MS)}`
  const trips = [await roundTrips('plain', proxied), await roundTrips('protected', proxied)]
  const added = (trips[1] ?? 0) - (trips[0] ?? 0)
  print(
    `Redis round trips one after the other in GET /me: unprotected ${trips[0]}, protected ${trips[1]}; ` +
      `added ${added} (goal ≤ 0)`,
  )
}

interface Subject {
  readonly url: string
  readonly cookies: readonly string[]
}

async function subject(kind: 'plain' | 'protected', redisUrl: string): Promise<Subject> {
  const url = await startApp(kind, redisUrl)
  const cookies: string[] = []
  for (let user = 0; user < SESSIONS; user++) cookies.push(await login(url, `${kind}${user}`))
  return { url, cookies }
}

async function login(url: string, username: string): Promise<string> {
  const body = new URLSearchParams({ username, password: 'x' })
  const response = await fetch(`${url}/login`, { method: 'POST', body })
  return response.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
}

async function load({ url, cookies }: Subject, duration: number) {
  const before = await cpuTime(url)
  const requests = cookies.map((cookie) => ({ path: '/me', headers: { cookie } }))
  const result = await autocannon({ url, connections: 16, duration, requests })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx + result.errors} requests failed`)
  const total = result.requests.total
  return { perSecond: total / result.duration, cpuPerRequest: ((await cpuTime(url)) - before) / total }
}

async function cpuTime(url: string): Promise<number> {
  const { user, system } = (await (await fetch(`${url}/cpu`)).json()) as { user: number; system: number }
  return user + system
}

async function roundTrips(kind: 'plain' | 'protected', redisUrl: string): Promise<number> {
  const url = await startApp(kind, redisUrl)
  const cookie = await login(url, `${kind} far away`)
  const get = () => fetch(`${url}/me`, { headers: { cookie } }).then((response) => response.text())
  await timings(3, get)
  return Math.round(median(await timings(15, get)) / DELAY_MS)
}
