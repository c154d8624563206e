import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A fault between client and server. */
export type Fault =
  | { readonly kind: 'none' }
  /** Every chunk arrives later, in order. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Every chunk arrives up to this many milliseconds later, in order. */
  | { readonly kind: 'jitter'; readonly ms: number }
  /** Every connection is reset, including new ones. */
  | { readonly kind: 'reset' }
  /** Every connection is reset after this many bytes of replies. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** Nothing passes and nothing closes. As in TCP, everything that was held back arrives when the fault is over. */
  | { readonly kind: 'black hole' }
  /** Commands arrive, but replies do not. Connections that lost a reply are reset when the fault is over. */
  | { readonly kind: 'lost reply' }

/** A proxy in front of a server. */
export interface TcpProxy {
  readonly port: number
  readonly url: string
  /** Replaces the current fault. */
  set(fault: Fault): void
  /** Leads new connections to another server, and resets existing ones. */
  lead(serverPort: number): void
  stop(): Promise<void>
}

interface Link {
  readonly ends: readonly [client: Socket, server: Socket]
  /** Bytes of replies that may still pass. */
  left: number
  /** Whether the connection must not be used again, because a reply is missing or one end is closed. */
  broken: boolean
  readonly waiting: { readonly chunk: Buffer; readonly to: Socket; readonly due: number }[]
}

/** Starts a proxy on a free port of 127.0.0.1, for another port or a Unix socket. */
export async function startProxy(serverAt: number | string): Promise<TcpProxy> {
  const links = new Set<Link>()
  let fault: Fault = { kind: 'none' }
  let target = serverAt

  function sever(link: Link): void {
    if (fault.kind === 'black hole') {
      link.broken = true
      return
    }
    links.delete(link)
    for (const end of link.ends) {
      // A Unix socket cannot be reset.
      if (end.remotePort === undefined) end.destroy()
      else end.resetAndDestroy()
    }
  }

  function flush(link: Link): void {
    if (fault.kind === 'black hole') return
    for (let next = link.waiting[0]; next; next = link.waiting[0]) {
      const early = next.due - performance.now()
      if (early > 0) return void setTimeout(() => flush(link), early + 1)
      link.waiting.shift()
      next.to.write(next.chunk)
    }
  }

  function pass(link: Link, chunk: Buffer, to: Socket): void {
    const isReply = to === link.ends[0]
    if (isReply && link.left <= 0) return
    if (isReply && fault.kind === 'lost reply') {
      link.broken = true
      return
    }
    const kept = isReply ? chunk.subarray(0, link.left) : chunk
    const late = fault.kind === 'delay' ? fault.ms : 0
    const ms = fault.kind === 'jitter' ? Math.random() * fault.ms : late
    link.waiting.push({ chunk: kept, to, due: performance.now() + ms })
    flush(link)
    if (!isReply) return
    link.left -= chunk.length
    // Ended gracefully first, so that the bytes before the cut arrive.
    if (link.left <= 0) to.end(() => sever(link))
  }

  const server = createServer((client) => {
    if (fault.kind === 'reset') return void client.on('error', () => {}).resetAndDestroy()
    const upstream = typeof target === 'string' ? connect(target) : connect(target, '127.0.0.1')
    const left = fault.kind === 'cut' ? fault.bytes : Number.POSITIVE_INFINITY
    const link: Link = { ends: [client, upstream], left, broken: false, waiting: [] }
    links.add(link)
    for (const [from, to] of [link.ends, [upstream, client] as const]) {
      from.setNoDelay(true)
      from.on('data', (chunk: Buffer) => pass(link, chunk, to))
      from.on('error', () => {})
      from.on('close', () => sever(link))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    set(next) {
      fault = next
      for (const link of links) {
        link.left = next.kind === 'cut' ? next.bytes : Number.POSITIVE_INFINITY
        if (next.kind === 'reset' || link.broken) sever(link)
        else flush(link)
      }
    },
    lead(next) {
      target = next
      for (const link of links) sever(link)
    },
    async stop() {
      fault = { kind: 'none' }
      const closed = once(server, 'close')
      server.close()
      for (const link of links) sever(link)
      await closed
    },
  }
}
