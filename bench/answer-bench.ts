import type { Server } from 'node:http'

/** Prints the port of a server, and then answers what the benchmark asks its process. */
export function answerBench(server: Server, numbers: Readonly<Record<string, () => number>> = {}): void {
  server.once('listening', () => {
    const address = server.address()
    if (address && typeof address === 'object') console.log(address.port)
  })
  // Connections wait for their turn, before their first request as well.
  server.keepAliveTimeout = 0
  server.headersTimeout = 0
  server.requestTimeout = 0
  process.on('message', (asked: string) => {
    if (asked === 'heap') globalThis.gc?.()
    process.send?.(asked === 'heap' ? process.memoryUsage().heapUsed : (numbers[asked] ?? cpuTime)())
  })
  process.once('disconnect', () => process.exit(0))
}

function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
