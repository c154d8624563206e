import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createVendor, OFFLINE_ADDONS } from './offline-vendor.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Runs a module in a process of its own, in which every way to open a socket ends the process. */
async function run(source: string): Promise<string> {
  const watch = `
    import net from 'node:net'
    import dns from 'node:dns'
    import dgram from 'node:dgram'
    const refuse = (what) => () => { console.log('opened ' + what); process.exit(3) }
    net.Socket.prototype.connect = refuse('a socket')
    dns.lookup = dns.promises.lookup = refuse('a name')
    dgram.createSocket = refuse('a datagram socket')
    globalThis.fetch = refuse('a request')
  `
  const arguments_ = ['--input-type=module', '--eval', `${watch}\n${source}`]
  const { stdout } = await promisify(execFile)(process.execPath, arguments_, { cwd: ROOT })
  return stdout.trim()
}

describe('offline licenses', () => {
  it('open no socket: not for the catalogue, a key, a check, or the end of one', async () => {
    const vendor = createVendor()
    const [key, list] = [await vendor.issue(1001), await vendor.revoke([])]
    const options = JSON.stringify({ ...vendor.trust, catalogue: OFFLINE_ADDONS })
    const out = await run(`
      const { offlineLicensing } = await import('./dist/licensing.js')
      const provider = offlineLicensing({ ...${options}, revocations: () => ${JSON.stringify(list)} })
      const site = { uid: '0'.repeat(32), url: 'https://example.test', version: '1' }
      const rows = await provider.listAddons({ force: true })
      const activation = await provider.activate({ productId: 1001, key: ${JSON.stringify(key)}, site })
      const { active } = await provider.validate({ productId: 1001, activation, site })
      await provider.deactivate({ productId: 1001, activation, site })
      console.log(rows.length, active)
    `)
    expect(out).toBe('3 true')
  })

  it('are what would be noticed: the watch sees a request', async () => {
    await expect(run(`import('node:http').then(({ get }) => get('http://127.0.0.1:9'))`)).rejects.toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^opened a (socket|name)/),
    })
  })
})

describe('jose', () => {
  it('is loaded when the first license is checked or issued, and by no import at the start', () => {
    const types = /^import type .* from 'jose'$/gm
    const files = readdirSync(join(ROOT, 'src'), { recursive: true }).map(String)
    const sources = files
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(join(ROOT, 'src', path), 'utf8').replace(types, ''))
    expect(sources.filter((source) => /(from|^import) ['"]jose/m.test(source))).toEqual([])
    expect(sources.filter((source) => source.includes("await import('jose')")).length).toBeGreaterThan(1)
  })
})
