import cluster from 'node:cluster'
import type { AddressInfo } from 'node:net'
import { trialLicense } from './addons.ts'
import { createApp } from './app.ts'
import { type Config, readConfig } from './config.ts'

const config = readConfig(process.env)
if (config.workers > 1 && cluster.isPrimary) runWorkers(config)
else await serve(config)

async function serve(config: Config): Promise<void> {
  const { port, redisUrl, databaseFile } = config
  if (!redisUrl && !databaseFile) {
    console.log('All data is in memory. To keep it, set SESSMGR_DB to a file or REDIS_URL to a Redis server.')
  }
  const { app, close } = await createApp(config)
  const server = app.listen(port, '127.0.0.1', (error) => {
    if (error) {
      console.error(`Cannot listen on port ${port}: ${error.message}. Set PORT to a free one.`)
      process.exit(1)
    }
    if (cluster.isPrimary) announce((server.address() as AddressInfo).port, config)
  })
  onSignal(() => {
    server.close(() => void close().finally(() => process.exit()))
    server.closeAllConnections()
  })
}

function runWorkers(config: Config): void {
  const { workers, sessionSecret } = config
  let listening = 0
  let ending = false
  cluster.on('listening', (_worker, { port }) => {
    listening += 1
    if (listening === workers) announce(port, config)
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

function announce(port: number, config: Config): void {
  const origin = `http://127.0.0.1:${port}`
  console.log(`listening on ${origin}`)
  if (!config.printsLicense) return
  trialLicense(config).then(
    (key) =>
      key && console.log(`To try the add-on Role Limits, enter this license key at ${origin}/admin/addons:\n${key}`),
    (error) => console.error(`No license key could be issued: ${error.message}`),
  )
}

function onSignal(end: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end)
}
