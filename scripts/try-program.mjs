// Loaded before the program of docs/getting-started.md, with `node --import`. Lets the program listen on a free port,
// and runs the lines with which the page tries it out. Exits with 0 if they print what the page says.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gettingStarted } from './getting-started.mjs'

const EXPECTED = 'You are not signed in.\nYou are alice.\nYou are alice.\n'

const { listen } = Server.prototype
/** @this {Server} */
Server.prototype.listen = function listenAnywhere() {
  const port = () => /** @type {import('node:net').AddressInfo} */ (this.address()).port
  return Reflect.apply(listen, this, [0, '127.0.0.1', () => tryOut(port())])
}

function tryOut(port) {
  const cwd = mkdtempSync(join(tmpdir(), 'sessmgr-getting-started-'))
  const lines = gettingStarted().tryOut.replaceAll(':3000', `:${port}`)
  execFile('sh', ['-ec', lines], { cwd }, (error, stdout) => {
    rmSync(cwd, { recursive: true, force: true })
    if (!error && stdout === EXPECTED) process.exit(0)
    console.error(error ?? `The lines print:\n${stdout}instead of:\n${EXPECTED}`)
    process.exit(1)
  })
}
