import cluster from 'node:cluster'
import type { AddressInfo } from 'node:net'
import { createApp } from './app.ts'
import { type Config, readConfig } from './config.ts'

const config = readConfig(process.env)
if (config.workers > 1 && cluster.isPrimary) runWorkers(config)
else serve(config)

function serve({ port, redisUrl, databaseFile }: Config): void {
  if (!redisUrl && !databaseFile) {
    console.log('All data is in memory. To keep it, set SESSMGR_DB to a file or REDIS_URL to a Redis server.')
  }
  const { app, close } = createApp(config)
  const server = app.listen(port, '127.0.0.1', (error) => {
    if (error) {
      console.error(`Cannot listen on port ${port}: ${error.message}. Set PORT to a free one.`)
      process.exit(1)
    }
    if (cluster.isPrimary) announce((server.address() as AddressInfo).port)
  })
  onSignal(() => {
    server.close(() => void close().finally(() => process.exit()))
    server.closeAllConnections()
  })
}

function runWorkers({ workers, sessionSecret }: Config): void {
  let listening = 0
  let ending = false
  cluster.on('listening', (_worker, { port }) => {
    listening += 1
    if (listening === workers) announce(port)
  })
  cluster.on('exit', (_worker, code) => {
    if (ending) return
    console.error(`A worker ended with code ${code}.`)
    process.exitCode = 1
    end()
  })
  for (let count = 0; count < workers; count++) cluster.fork({ SESSION_SECRET: sessionSecret })
  onSignal(end)

  function end(): void {
    ending = true
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
  }
}

function announce(port: number): void {
  console.log(`listening on http://127.0.0.1:${port}`)
}

function onSignal(end: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end)
}
