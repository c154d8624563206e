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
const issue = async (...more: string[]): Promise<string> => {
  const { code, out, err } = await license(
    ...['issue', '--key', 'key.json', '--issuer', 'acme', '--product', '7', '--expires', '30d', ...more],
  )
  expect([code, err]).toEqual([0, ''])
  return out.trim()
}
const inspect = (file: string, ...more: string[]) =>
  license('inspect', file, '--key', 'public.json', '--issuer', 'acme', ...more)
const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return name
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sessmgr-license-'))
  const { code, out } = await license('keygen', 'key.json', '--kid', 'acme-1')
  expect(code).toBe(0)
  write('public.json', out)
  publicKeys = JSON.parse(out)
  privateKey = JSON.parse(readFileSync(join(folder, 'key.json'), 'utf8'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('rule 28: sessmgr license keygen', () => {
  it('writes the private key for its owner alone, and prints the public one alone', async () => {
    expect(statSync(join(folder, 'key.json')).mode & 0o777).toBe(0o600)
    expect(publicKeys).toEqual({ 'acme-1': { kty: 'OKP', crv: 'Ed25519', x: privateKey.x } })
    const { code, out, err } = await license('keygen', 'other.json')
    const { d, kid } = JSON.parse(readFileSync(join(folder, 'other.json'), 'utf8'))
    expect([code, d.length]).toEqual([0, 43])
    expect(Object.keys(JSON.parse(out))).toEqual([kid])
    expect(kid).toMatch(/^[\w-]{16}$/)
    expect(out + err).not.toContain(d)
  })

  it('writes over no file: 1', async () => {
    const before = readFileSync(join(folder, 'key.json'), 'utf8')
    expect(await license('keygen', 'key.json')).toEqual({ code: 1, out: '', err: 'key.json already exists.\n' })
    expect(readFileSync(join(folder, 'key.json'), 'utf8')).toBe(before)
    expect((await license('keygen', 'nowhere/key.json')).err).toBe('nowhere/key.json cannot be written (ENOENT).\n')
  })

  it('prints the private key only when it is asked to, and writes no file then', async () => {
    const files = readdirSync(folder)
    const { code, out, err } = await license('keygen', '--print-private', '--kid', 'shown')
    expect([code, err, JSON.parse(out).kid, JSON.parse(out).d.length]).toEqual([0, '', 'shown', 43])
    expect(readdirSync(folder)).toEqual(files)
  })
})

describe('rule 28: sessmgr license issue', () => {
  it('issues a key that an application takes', async () => {
    const key = await issue()
    const catalogue = [{ id: 7, slug: 'seven', title: 'Seven', is_premium: true }]
    const provider = offlineLicensing({ catalogue, issuer: 'acme', keys: publicKeys })
    const site = { uid: '0'.repeat(32), url: 'https://example.test', version: '1' }
    expect((await provider.activate({ productId: 7, key, site })).plan).toBeNull()
  })

  it('says in it what was asked for', async () => {
    const key = await issue(
      ...['--id', 'order-5', '--quota', '3', '--not-before', '2026-01-01', '--audience', 'my-app'],
      ...['--site', 'a.example.test', 'B.example.test', '--entitlement', 'pro', 'support'],
    )
    expect(claimsOf(key)).toEqual({
      iss: 'acme',
      aud: 'my-app',
      sub: 'order-5',
      pid: 7,
      iat: expect.any(Number),
      nbf: Date.UTC(2026, 0, 1) / 1000,
      exp: expect.any(Number),
      quota: 3,
      ent: ['pro', 'support'],
      sites: ['a.example.test', 'b.example.test'],
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it.each([
    ['never', null],
    ['2031-05-06', Date.UTC(2031, 4, 6) / 1000],
    ['2031-05-06T07:08:09Z', Date.UTC(2031, 4, 6, 7, 8, 9) / 1000],
  ])('takes %s for the end', async (when, seconds) => {
    expect(claimsOf(await issue('--expires', when)).exp).toBe(seconds)
  })

  it('writes it into a file for its owner alone, and does not print it then', async () => {
    expect(await issue('--out', 'one.lic')).toBe('The license key is in one.lic.')
    expect(statSync(join(folder, 'one.lic')).mode & 0o777).toBe(0o600)
    expect((await inspect('one.lic')).code).toBe(0)
  })

  it.each([
    ['public.json', /^public\.json is not a private key/],
    ['nothing.json', /^nothing\.json cannot be read \(ENOENT\)\.\n$/],
    ['one-word', /^one-word is not valid JSON\.\n$/],
  ])('with the key %s says what is wrong with that: 1', async (key, sentence) => {
    write('one-word', 'word')
    const args = ['issue', '--key', key, '--issuer', 'acme', '--product', '7', '--expires', 'never']
    const { code, out, err } = await license(...args)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(sentence)
    expect(err).not.toContain(privateKey.d)
  })
})

describe('rule 28: sessmgr license inspect', () => {
  it('tells what is in a good license', async () => {
    write('good.lic', `${await issue('--id', 'order-5', '--quota', '3', '--entitlement', 'pro')}\n`)
    const { code, out, err } = await inspect('good.lic', '--product', '7')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(
      /^License: {6}order-5\nKey id \(jti\): [0-9a-f-]{36}\nVendor: {7}acme\nProduct: {6}7\nIssued: .*\nExpires: .*\nSites: {8}3\nEntitles to: {2}pro\nThis license is valid\.\n$/,
    )
  })

  it('reads it from the input, too', async () => {
    const key = await issue()
    const args = [CLI, 'license', 'inspect', '-', '--key', 'key.json', '--issuer', 'acme']
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text
    })
    child.stdin.end(key)
    const [code] = await once(child, 'close')
    expect([code, out.endsWith('This license is valid.\n')]).toEqual([0, true])
  })

  it.each([
    ['is for another product', [], ['--product', '8'], 'This license is for another product.\n'],
    ['is bound to another site', ['--site', 'a.test'], ['--site', 'b.test'], 'This license is for another site.\n'],
    ['is for another audience', ['--audience', 'x'], [], 'This license is for another application.\n'],
    ['has expired', ['--expires', '2026-01-01'], [], 'This license expired on 2026-01-01T00:00:00.000Z.\n'],
    ['is not good yet', ['--not-before', '2099-01-01'], [], /^This license is not valid before 2099-01-01T/],
  ])('explains that it %s: 1', async (_what, issued, asked, sentence) => {
    const file = write('bad.lic', await issue(...issued))
    const { code, out, err } = await inspect(file, ...asked)
    expect(code).toBe(1)
    expect(out).toContain('License:')
    expect(out).not.toContain('is good')
    expect(err).toMatch(sentence)
  })

  it('explains everything that is wrong, and that a vendor is another', async () => {
    const file = write('bad.lic', await issue('--expires', '2026-01-01', '--site', 'a.test'))
    const args = ['inspect', file, '--key', 'public.json', '--issuer', 'other', '--product', '8', '--site', 'b.test']
    const { code, err } = await license(...args)
    expect([code, err.trimEnd().split('\n').length]).toEqual([1, 4])
    expect(err).toContain('This license is from another vendor.\n')
  })

  it('believes nothing of one that was changed, or signed by somebody else', async () => {
    const [head, claims, signature] = (await issue()).split('.') as [string, string, string]
    const forged = Buffer.from(JSON.stringify({ ...claimsOf(`${head}.${claims}`), pid: 8 })).toString('base64url')
    const changed = await inspect(write('bad.lic', `${head}.${forged}.${signature}`))
    expect(changed).toEqual({
      code: 1,
      out: '',
      err: 'This license key is not valid: its signature is wrong, so it was changed or is not from the vendor.\n',
    })
    await license('keygen', 'stranger.json', '--kid', 'stranger')
    const args = ['issue', '--key', 'stranger.json', '--issuer', 'acme', '--product', '7', '--expires', 'never']
    const foreign = await inspect(write('foreign.lic', (await license(...args)).out))
    expect([foreign.code, foreign.out]).toEqual([1, ''])
    expect(foreign.err).toMatch(/signed with an unknown key/)
    expect((await inspect(write('text.lic', 'what is this'))).err).toMatch(/^This is not a license key\. /)
  })
})

describe('sessmgr license revoke', () => {
  it('begins a list and adds to it; inspect and applications believe it', async () => {
    const [first, second, third] = await Promise.all([issue(), issue(), issue()])
    const revoke = async (key: string) =>
      license('revoke', String(claimsOf(key).jti), '--key', 'key.json', '--issuer', 'acme', '--list', 'revoked.jws')
    expect((await revoke(first)).out).toBe('revoked.jws now revokes 1 license key(s).\n')
    expect((await revoke(second)).out).toBe('revoked.jws now revokes 2 license key(s).\n')
    expect((await revoke(second)).out).toBe('revoked.jws now revokes 2 license key(s).\n')
    const found = []
    for (const key of [first, second, third]) {
      found.push(await inspect(write('some.lic', key), '--revocations', 'revoked.jws'))
    }
    expect(found.map(({ code }) => code)).toEqual([1, 1, 0])
    expect(found[0]?.err).toBe('This license has been revoked.\n')
    const provider = offlineLicensing({ issuer: 'acme', keys: publicKeys, revocations: join(folder, 'revoked.jws') })
    const site = { uid: '0'.repeat(32), url: 'https://example.test', version: '1' }
    const activate = (key: string) => provider.activate({ productId: 7, key, site })
    await expect(activate(second)).rejects.toMatchObject({ code: 'license_revoked' })
    await expect(activate(third)).resolves.toMatchObject({ key: third })
  })

  it('says that the list cannot be written: 1', async () => {
    const list = join(folder, 'nowhere', 'revoked.jws')
    expect(await license('revoke', 'x', '--key', 'key.json', '--issuer', 'acme', '--list', list)).toEqual({
      code: 1,
      out: '',
      err: `${list} cannot be written (ENOENT).\n`,
    })
  })

  it('touches no list that it cannot believe: 1', async () => {
    write('forged.jws', 'not.a.list')
    const args = ['revoke', 'x', '--key', 'key.json', '--issuer', 'acme', '--list', 'forged.jws']
    const { code, out, err } = await license(...args)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^The revocation list forged\.jws is not valid/)
    expect(readFileSync(join(folder, 'forged.jws'), 'utf8')).toBe('not.a.list')
  })
})

describe('wrong usage', () => {
  const good = ['--key', 'key.json', '--issuer', 'acme', '--product', '7', '--expires', 'never']
  it.each([
    [[]],
    [['nonsense']],
    [['keygen']],
    [['issue']],
    [['issue', '--key', 'key.json', '--issuer', 'acme', '--product', '7']],
    [['issue', ...good, '--product', '0']],
    [['issue', ...good, '--product', '1.5']],
    [['issue', ...good, '--product', 'seven']],
    [['issue', ...good, '--expires', 'tomorrow']],
    [['issue', ...good, '--expires', '2027-13-01']],
    [['issue', ...good, '--expires', '2027-02-30']],
    [['issue', ...good, '--expires', '0d']],
    [['issue', ...good, '--not-before', 'never']],
    [['issue', ...good, '--quota', '0']],
    [['issue', ...good, '--site', 'https://example.test/']],
    [['issue', ...good, '--nonsense']],
    [['issue', 'more', ...good]],
    [['inspect', '--key', 'public.json', '--issuer', 'acme']],
    [['inspect', 'good.lic', '--issuer', 'acme']],
    [['revoke', '--key', 'key.json', '--issuer', 'acme', '--list', 'x.jws']],
  ])('2 for %j, and nothing is written', async (args) => {
    const files = readdirSync(folder).sort()
    const { code, out, err } = await license(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).not.toBe('')
    expect(readdirSync(folder).sort()).toEqual(files)
  })

  it('help names every command: 0', async () => {
    const { code, out } = await license('--help')
    expect(code).toBe(0)
    for (const name of ['keygen', 'issue', 'inspect', 'revoke']) expect(out).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  })
})
