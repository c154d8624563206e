import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createVendor, OFFLINE_ADDONS } from './offline-vendor.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

it('offline licenses open no socket: not for the catalogue, a key, a check, or the end of one', async () => {
  const vendor = createVendor()
  const [key, list] = [await vendor.issue(1001), await vendor.revoke([])]
  const options = JSON.stringify({ ...vendor.trust, catalogue: OFFLINE_ADDONS })
  // Every way to open a socket ends the process; that of http, which comes last, shows that this is noticed.
  const source = `
    import net from 'node:net'
    import dns from 'node:dns'
    import dgram from 'node:dgram'
    import http from 'node:http'
    const refuse = (what) => () => { console.log('opened ' + what); process.exit(3) }
    net.Socket.prototype.connect = refuse('a socket')
    dns.lookup = dns.promises.lookup = refuse('a socket')
    dgram.createSocket = refuse('a datagram socket')
    globalThis.fetch = refuse('a request')
    const { offlineLicensing } = await import('./dist/licensing.js')
    const provider = offlineLicensing({ ...${options}, revocations: () => ${JSON.stringify(list)} })
    const site = { uid: '0'.repeat(32), url: 'https://example.test', version: '1' }
    const rows = await provider.listAddons({ force: true })
    const activation = await provider.activate({ productId: 1001, key: ${JSON.stringify(key)}, site })
    const { active } = await provider.validate({ productId: 1001, activation, site })
    await provider.deactivate({ productId: 1001, activation, site })
    console.log(rows.length, active)
    http.get('http://127.0.0.1:9')
  `
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source], { cwd: ROOT })
  await expect(run).rejects.toMatchObject({ code: 3, stdout: '3 true\nopened a socket\n' })
})

it('jose is loaded when the first license is checked or issued, and by no import at the start', () => {
  const types = /^import type .* from 'jose'$/gm
  const files = readdirSync(join(ROOT, 'src'), { recursive: true }).map(String)
  const sources = files
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(ROOT, 'src', path), 'utf8').replace(types, ''))
  expect(sources.filter((source) => /(from|^import) ['"]jose/m.test(source))).toEqual([])
  expect(sources.filter((source) => source.includes("await import('jose')")).length).toBeGreaterThan(1)
})
