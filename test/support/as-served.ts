import { once } from 'node:events'
import type { Request as ExpressRequest, Response as ExpressResponse, RequestHandler } from 'express'
import { fetchCalls } from '../../src/fetch.ts'
import type { Middleware, Sessmgr } from '../../src/index.ts'

/** Whether the applications under test serve sessmgr's middlewares as a `Request` and a `Response`. */
const isByFetch = process.env.SERVED_BY === 'fetch'

/**
 * Returns a middleware of sessmgr as an application on Express mounts it at a path. If the environment says so, it goes
 * through `serve` of `sessmgr/fetch`.
 */
export function asServed(limiter: Sessmgr, path: string, middleware: Middleware): RequestHandler {
  if (!isByFetch) return middleware as RequestHandler
  const door = fetchCalls(limiter, {
    exists: () => false,
    destroy() {},
    ip: ({ headers }) => headers.get('x-test-ip'),
  })
  const serve = door.serve(path, middleware)
  return (req, res, next) => {
    // No `Request` can have this method.
    if (req.method === 'TRACE') return middleware(req, res, next)
    // On Express, the start of a download that fails has been sent.
    const cut = (error: unknown) => (req.path.endsWith('/export') ? res.destroy() : next(error))
    pass(req, res).then((isAnswered) => isAnswered || next(), cut)
  }

  async function pass(req: ExpressRequest, res: ExpressResponse): Promise<boolean> {
    const abort = new AbortController()
    res.once('close', () => res.writableFinished || abort.abort())
    const request = requestOf(req, abort.signal)
    const { session } = req.sessmgr ?? {}
    if (session) await door.check(request, { userId: session.userId, sessionId: req.sessionID })
    const response = await serve(request)
    // A body that fails is cut off.
    if (response) await send(res, response).catch(() => res.destroy())
    return response !== undefined
  }
}

function requestOf(req: ExpressRequest, signal: AbortSignal): Request {
  const { method, originalUrl, headers, socket } = req
  const all = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) if (!/^(connection|transfer-encoding)$/.test(name)) all.append(name, one)
  }
  all.set('x-test-ip', req.ip ?? socket.remoteAddress ?? '')
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const init = { method, headers: all, body: hasBody ? bodyOf(req) : undefined, signal, duplex: 'half' }
  return new Request(`http://${headers.host}${originalUrl}`, init as RequestInit)
}

/**
 * Returns the body of a request. Until somebody reads it, Node may discard it. After a reader that stops early, the rest
 * is discarded.
 */
function bodyOf(req: ExpressRequest): ReadableStream<Uint8Array> {
  const chunks = req[Symbol.asyncIterator]()
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await chunks.next()
    if (done) controller.close()
    else controller.enqueue(value)
  }
  const cancel = async () => {
    let rest = await chunks.next()
    while (!rest.done) rest = await chunks.next()
  }
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
}

async function send(res: ExpressResponse, response: Response): Promise<void> {
  res.statusCode = response.status
  for (const [name, value] of response.headers) if (name !== 'set-cookie') res.setHeader(name, value)
  for (const cookie of response.headers.getSetCookie()) res.appendHeader('Set-Cookie', cookie)
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    if (!res.write(chunk)) await Promise.race([once(res, 'drain'), once(res, 'close')])
  }
  res.end()
}
