// Loaded in front of a program, by `node --import`: lets it listen on a free port, or on TEST_PORT, and prints which one
// that is.
import { Server } from 'node:net'

const { listen } = Server.prototype
Server.prototype.listen = function listenAnywhere() {
  return listen.call(this, Number(process.env.TEST_PORT ?? 0), '127.0.0.1', () =>
    console.log(`port ${this.address().port}`),
  )
}
