import { spawn } from 'node:child_process'
import type { JsonWebKey } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { offlineLicensing } from '../../../src/licensing.ts'
import { CLI, type CliResult, runCli } from '../../support/cli.ts'
import { claimsOf } from '../addons/offline-vendor.ts'

let folder: string
let privateKey: Record<string, string>
let publicKeys: Record<string, JsonWebKey>

/** Runs a command where there is no configuration: the vendor has none. */
const license = (...args: string[]): Promise<CliResult> => runCli(['license', ...args], { cwd: folder })
const failed = (err: string) => ({ code: 1, out: '', err })
const GOOD = ['--key', 'key.json', '--issuer', 'acme', '--product', '7', '--expires', 'never']
const issue = async (...more: string[]): Promise<string> => {
  const { code, out, err } = await license('issue', ...GOOD, ...more)
  expect([code, err]).toEqual([0, ''])
  return out.trim()
}
const inspect = (file: string, ...more: string[]) =>
  license('inspect', file, '--key', 'public.json', '--issuer', 'acme', ...more)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return name
}
const modeOf = (name: string) => statSync(join(folder, name)).mode & 0o777
/** Activates a key as an application does. */
const activate = (key: string, more = {}) => {
  const provider = offlineLicensing({ issuer: 'acme', keys: publicKeys, ...more })
  return provider.activate({ productId: 7, key, site: { uid: '0'.repeat(32), url: 'https://a.test', version: '1' } })
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sessmgr-license-'))
  const { code, out } = await license('keygen', 'key.json', '--kid', 'acme-1')
  expect(code).toBe(0)
  write('public.json', out)
  publicKeys = JSON.parse(out)
  privateKey = JSON.parse(read('key.json'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('rule 28: sessmgr license keygen', () => {
  it('writes the private key for its owner alone, prints the public one alone, and writes over no file: 1', async () => {
    expect(modeOf('key.json')).toBe(0o600)
    expect(publicKeys).toEqual({ 'acme-1': { kty: 'OKP', crv: 'Ed25519', x: privateKey.x } })
    const { code, out, err } = await license('keygen', 'other.json')
    const { d, kid } = JSON.parse(read('other.json'))
    expect([code, d.length, Object.keys(JSON.parse(out))]).toEqual([0, 43, [kid]])
    expect(kid).toMatch(/^[\w-]{16}$/)
    expect(out + err).not.toContain(d)
    const before = read('key.json')
    expect(await license('keygen', 'key.json')).toEqual(failed('key.json already exists.\n'))
    expect(read('key.json')).toBe(before)
    const nowhere = 'nowhere/key.json'
    expect(await license('keygen', nowhere)).toEqual(failed(`${nowhere} cannot be written (ENOENT).\n`))
  })

  it('prints the private key only when it is asked to, and writes no file then', async () => {
    const files = readdirSync(folder)
    const { code, out, err } = await license('keygen', '--print-private', '--kid', 'shown')
    expect([code, err, JSON.parse(out).kid, JSON.parse(out).d.length]).toEqual([0, '', 'shown', 43])
    expect(readdirSync(folder)).toEqual(files)
  })
})

describe('rule 28: sessmgr license issue', () => {
  it('says in the key what was asked for, which an application takes', async () => {
    const key = await issue(
      ...['--id', 'order-5', '--quota', '3', '--not-before', '2026-01-01', '--audience', 'my-app'],
      ...['--site', 'a.test', 'B.test', '--entitlement', 'pro', 'support', '--expires', '2131-05-06T07:08:09Z'],
    )
    expect(claimsOf(key)).toEqual({
      iss: 'acme',
      aud: 'my-app',
      sub: 'order-5',
      pid: 7,
      iat: expect.any(Number),
      nbf: Date.UTC(2026, 0, 1) / 1000,
      exp: Date.UTC(2131, 4, 6, 7, 8, 9) / 1000,
      quota: 3,
      ent: ['pro', 'support'],
      sites: ['a.test', 'b.test'],
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect((await activate(key, { audience: 'my-app' })).plan).toBe('pro')
    expect(claimsOf(await issue()).exp).toBeNull()
    const { exp, iat } = claimsOf(await issue('--expires', '30d'))
    expect(Number(exp) - Number(iat)).toBeCloseTo(30 * 86_400, -1)
  })

  it('writes the key into a file for its owner alone, and does not print it then', async () => {
    expect(await issue('--out', 'one.lic')).toBe('The license key is in one.lic.')
    expect(modeOf('one.lic')).toBe(0o600)
    expect((await inspect('one.lic')).code).toBe(0)
  })

  it('says what is wrong with a private key: 1', async () => {
    write('one-word', 'word')
    for (const [key, sentence] of [
      ['public.json', 'public.json is not a private key from `sessmgr license keygen`.'],
      ['nothing.json', 'nothing.json cannot be read (ENOENT).'],
      ['one-word', 'one-word is not valid JSON.'],
    ] as const) {
      expect(await license('issue', ...GOOD, '--key', key)).toEqual(failed(`${sentence}\n`))
    }
  })
})

describe('rule 28: sessmgr license inspect', () => {
  it('tells what is in a good license, from a file or from the input', async () => {
    const key = await issue('--id', 'order-5', '--quota', '3', '--entitlement', 'pro')
    const { code, out, err } = await inspect(write('good.lic', `${key}\n`), '--product', '7')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(
      /^License: {6}order-5\nKey id \(jti\): [0-9a-f-]{36}\nVendor: {7}acme\nProduct: {6}7\nIssued: .*\nExpires: .*\nSites: {8}3\nEntitles to: {2}pro\nThis license is valid\.\n$/,
    )
    const args = [CLI, 'license', 'inspect', '-', '--key', 'key.json', '--issuer', 'acme']
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] })
    child.stdin.end(key)
    expect(await once(child, 'close')).toEqual([0, null])
  })

  it('explains everything that is wrong: 1', async () => {
    const args = ['--expires', '2026-01-01', '--not-before', '2099-01-01', '--audience', 'x', '--site', 'a.test']
    const file = write('bad.lic', await issue(...args))
    const asked = ['--key', 'public.json', '--issuer', 'other', '--product', '8', '--site', 'b.test']
    const { code, out, err } = await license('inspect', file, ...asked)
    expect([code, out.includes('License:'), out.includes('is valid')]).toEqual([1, true, false])
    expect(err.trimEnd().split('\n')).toEqual([
      'This license is from another vendor.',
      'This license is for another application.',
      'This license is for another product.',
      'This license is not valid before 2099-01-01T00:00:00.000Z.',
      'This license expired on 2026-01-01T00:00:00.000Z.',
      'This license is for another site.',
    ])
  })

  it('believes nothing of one that was changed, or signed by somebody else: 1', async () => {
    const [head, claims, signature] = (await issue()).split('.') as [string, string, string]
    const forged = Buffer.from(JSON.stringify({ ...claimsOf(`${head}.${claims}`), pid: 8 })).toString('base64url')
    const why = 'its signature is wrong, so it was changed or is not from the vendor'
    const changed = await inspect(write('bad.lic', `${head}.${forged}.${signature}`))
    expect(changed).toEqual(failed(`This license key is not valid: ${why}.\n`))
    await license('keygen', 'stranger.json', '--kid', 'stranger')
    const foreign = await inspect(write('foreign.lic', await issue('--key', 'stranger.json')))
    expect(foreign).toEqual(failed('This license key is not valid: it is signed with an unknown key.\n'))
    const text = await inspect(write('text.lic', 'what is this'))
    expect([text.code, text.err]).toEqual([1, expect.stringMatching(/^This is not a license key\. /)])
  })
})

describe('rule 28: sessmgr license revoke', () => {
  const revoke = (jti: unknown, list: string) =>
    license('revoke', String(jti), '--key', 'key.json', '--issuer', 'acme', '--list', list)

  it('begins a list and adds to it; inspect and applications believe it', async () => {
    const [first, second, third] = [await issue(), await issue(), await issue()]
    for (const [key, count] of [
      [first, 1],
      [second, 2],
      [second, 2],
    ] as const) {
      const { out } = await revoke(claimsOf(key).jti, 'revoked.jws')
      expect(out).toBe(`revoked.jws now revokes ${count} license key(s).\n`)
    }
    const found = await inspect(write('some.lic', first), '--revocations', 'revoked.jws')
    expect([found.code, found.err]).toEqual([1, 'This license has been revoked.\n'])
    expect((await inspect(write('some.lic', third), '--revocations', 'revoked.jws')).code).toBe(0)
    const revocations = join(folder, 'revoked.jws')
    await expect(activate(second, { revocations })).rejects.toMatchObject({ code: 'license_revoked' })
    await expect(activate(third, { revocations })).resolves.toMatchObject({ key: third })
  })

  it('touches no list that it cannot believe, and says that one cannot be written: 1', async () => {
    write('forged.jws', 'not.a.list')
    const why = 'The revocation list forged.jws is not valid: it is not a signed string.\n'
    expect(await revoke('x', 'forged.jws')).toEqual(failed(why))
    expect(read('forged.jws')).toBe('not.a.list')
    const nowhere = 'nowhere/revoked.jws'
    expect(await revoke('x', nowhere)).toEqual(failed(`${nowhere} cannot be written (ENOENT).\n`))
  })
})

it('rule 28: wrong usage of sessmgr license is 2, and nothing is written', async () => {
  const files = readdirSync(folder).sort()
  for (const args of [
    [],
    ['keygen'],
    ['issue', '--key', 'key.json', '--issuer', 'acme', '--product', '7'],
    ['issue', ...GOOD, '--product', '0'],
    ['issue', ...GOOD, '--product', '1.5'],
    ['issue', ...GOOD, '--expires', 'tomorrow'],
    ['issue', ...GOOD, '--expires', '2027-02-30'],
    ['issue', ...GOOD, '--expires', '0d'],
    ['issue', ...GOOD, '--not-before', 'never'],
    ['issue', ...GOOD, '--quota', '0'],
    ['issue', ...GOOD, '--site', 'https://example.test/'],
    ['inspect', 'good.lic', '--issuer', 'acme'],
    ['revoke', '--key', 'key.json', '--issuer', 'acme', '--list', 'x.jws'],
  ]) {
    const { code, out, err } = await license(...args)
    expect([code, out, err], args.join(' ')).toEqual([2, '', expect.stringMatching(/./)])
  }
  expect(readdirSync(folder).sort()).toEqual(files)
})
