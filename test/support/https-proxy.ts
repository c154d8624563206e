import { once } from 'node:events'
import { request as forward } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { CERTIFICATE } from './certificate.ts'
import { cutOff } from './serve.ts'

/** A proxy that ends HTTPS, as in front of most applications. */
export interface HttpsProxy {
  /** On `localhost`, which a browser accepts only from this proxy. */
  readonly origin: string
  /** Forwards to another application from now on, or answers 502 if there is none. */
  leadTo(origin: string | undefined): void
  /** Returns what a request to a path waits for before it is forwarded. */
  hold: (path: string) => Promise<unknown> | undefined
  /** The requests so far: method, path and status. */
  readonly log: (readonly [method: string, path: string, status: number])[]
  close(): Promise<void>
}

/** Starts a proxy in front of an application. */
export async function startHttpsProxy(first: string): Promise<HttpsProxy> {
  let target: string | undefined = first
  const log: (readonly [string, string, number])[] = []
  const server = createServer(CERTIFICATE, async (request, response) => {
    const { method = '', url = '', headers } = request
    await proxy.hold(url)
    response.once('finish', () => log.push([method, url.split('?', 1)[0] ?? '', response.statusCode]))
    const fail = () => void response.writeHead(502).end()
    if (target === undefined) return fail()
    const sent = forward(new URL(url, target), { method, headers: { ...headers, 'x-forwarded-proto': 'https' } })
    sent.on('error', fail)
    sent.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(sent)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: HttpsProxy = {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    leadTo(origin) {
      target = origin
    },
    hold: () => undefined,
    log,
    close: () => cutOff(server),
  }
  return proxy
}
