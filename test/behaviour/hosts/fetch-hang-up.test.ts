import { createServer } from 'node:net'
import { serve } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import { fetchCalls } from '../../../src/fetch.ts'
import { sessmgr } from '../../../src/index.ts'
import { createGate } from '../../support/gates.ts'

type Handler = (request: Request) => Promise<Response>
interface Runtimes {
  Bun?: { serve(options: object): { stop(now: boolean): unknown } }
  Deno?: { serve(options: object, handler: Handler): { shutdown(): unknown } }
}

/** Starts a server of the runtime that runs the tests. */
async function startServer(fetch: Handler): Promise<string> {
  const port = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
  const at = { port, hostname: '127.0.0.1' }
  const { Bun, Deno } = globalThis as Runtimes
  if (Bun) {
    const server = Bun.serve({ ...at, fetch })
    onTestFinished(() => void server.stop(true))
  } else if (Deno) {
    const server = Deno.serve(at, fetch)
    onTestFinished(() => void server.shutdown())
  } else {
    const server = serve({ ...at, fetch })
    onTestFinished(() => void server.close())
  }
  return `http://127.0.0.1:${port}`
}

async function start() {
  const limiter = sessmgr({ logger: { warn() {}, error() {} }, settings: { maximum: 1, logic: 'block' } })
  onTestFinished(() => limiter.close())
  const sessions = new Set<string>()
  const stores = { exists: (id: string) => sessions.has(id), destroy: (id: string) => sessions.delete(id) }
  const door = fetchCalls(limiter, stores)
  const gate = createGate()
  const seen: AbortSignal[] = []
  const origin = await startServer(async (request) => {
    const { searchParams } = new URL(request.url)
    const at = async (place: string) => void (searchParams.get('at') === place && (await gate.pass()))
    try {
      await at('before')
      seen.push(request.signal)
      await door.login(request, { userId: 'ada' }, async () => {
        sessions.add('one')
        await at('create')
        return { sessionId: 'one', ttlMs: 60_000 }
      })
      await at('end')
      return new Response('in', { headers: door.headers(request) })
    } catch (error) {
      return Response.json(error, { status: 500 })
    }
  })
  const left = async () => [[...sessions], await limiter.sessions.count('ada')]
  return { origin, gate, left, seen }
}

test.each(['before', 'create', 'end'])('a login whose client hangs up at "%s" leaves nothing', async (place) => {
  const { origin, gate, left, seen } = await start()
  const abort = new AbortController()
  const answer = fetch(`${origin}/?at=${place}`, { method: 'POST', signal: abort.signal })
  answer.catch(() => {})
  await gate.arrived
  abort.abort()
  await expect(answer).rejects.toThrow()
  await new Promise((resolve) => setTimeout(resolve, 300))
  gate.open()
  await expect.poll(() => seen[0]?.aborted).toBe(true)
  await expect.poll(left).toEqual([[], 0])
})

test('a session that was delivered lives on, even if the runtime aborts its request afterwards', async () => {
  const { origin, left } = await start()
  expect(await (await fetch(origin, { method: 'POST' })).text()).toBe('in')
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await left()).toEqual([['one'], 1])
})
