import type { AddressInfo } from 'node:net'
import { createApp } from './app.ts'
import { readConfig } from './config.ts'

const config = readConfig(process.env)
const { app, limiter } = createApp(config)
console.log('Everything is kept in memory.')

const server = app.listen(config.port, '127.0.0.1', (error) => {
  if (error) {
    console.error(`Cannot listen on port ${config.port}: ${error.message}. Set PORT to a free one.`)
    process.exit(1)
  }
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close(() => void limiter.close())
    server.closeAllConnections()
  })
}
