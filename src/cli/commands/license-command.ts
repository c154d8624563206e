import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { existsSync } from 'node:fs'
import { text as allOf } from 'node:stream/consumers'
import { Command, InvalidArgumentError } from 'commander'
import { checkPublicKeys } from '../../extensions/offline-licenses/offline-licensing.ts'
import {
  DEFAULT_AUDIENCE,
  issueLicense,
  issueRevocations,
  judgeLicense,
  type LicenseClaims,
  type PublicKeys,
  readRevocations,
  type SigningKey,
} from '../../extensions/offline-licenses/signed-license.ts'
import type { CliContext } from '../cli-context.ts'
import { CliError } from '../cli-error.ts'
import { plainLine } from '../output.ts'
import { readJson, readText, writeSecret, writeText } from '../text-files.ts'

interface IssueOptions {
  key: string
  issuer: string
  product: number
  expires: { at: Date | null }
  notBefore?: Date
  quota?: number
  id?: string
  site?: string[]
  entitlement?: string[]
  audience: string
  out?: string
}

interface InspectOptions {
  key: string
  issuer: string
  product?: number
  site?: string
  audience: string
  revocations?: string
}

/** Returns the `sessmgr license` command for add-on vendors. It needs no configuration. */
export function licenseCommand({ print }: CliContext): Command {
  const command = new Command('license').description('issue, inspect and revoke offline licenses of your add-ons')
  for (const add of [addKeygen, addIssue, addInspect, addRevoke]) add(command, print)
  return command
}

function addKeygen(command: Command, print: CliContext['print']): void {
  command
    .command('keygen [file]')
    .description('create a signing key; write the private key to <file> and print the public key')
    .option('--kid <name>', 'key id (default: its thumbprint)')
    .option('--print-private', 'print the private key instead of writing a file')
    .action(async (file: string | undefined, options: { kid?: string; printPrivate?: boolean }) => {
      if (file === undefined && !options.printPrivate)
        throw new CliError(2, 'Name a file for the private key, or pass --print-private.')
      const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
      const kid = options.kid ?? (await thumbprint(key))
      const text = JSON.stringify({ ...key, kid, alg: 'EdDSA', use: 'sig' }, null, 2)
      if (file === undefined || options.printPrivate) return print(text)
      writeSecret(file, `${text}\n`)
      print(JSON.stringify({ [kid]: publicPart(key) }, null, 2))
      process.stderr.write(
        `The private key is in ${file}. Keep it secret. Pass the JSON above to offlineLicensing() as "keys".\n`,
      )
    })
}

function addIssue(command: Command, print: CliContext['print']): void {
  command
    .command('issue')
    .description('issue a license key')
    .requiredOption('--key <file>', 'private key from keygen')
    .requiredOption('--issuer <name>', 'the vendor, as in offlineLicensing()')
    .requiredOption('--product <id>', 'add-on id', wholeNumber)
    .requiredOption('--expires <when>', 'a date such as 2027-12-31, a number of days such as 365d, or never', expiry)
    .option('--not-before <date>', 'first day on which the license is valid', date)
    .option('--quota <number>', 'number of sites (default: unlimited)', wholeNumber)
    .option('--id <id>', 'license id (default: random)')
    .option('--site <host...>', 'host names that the license is valid for (default: any)', host)
    .option('--entitlement <name...>', 'what the license includes; the first entry is the plan')
    .option('--audience <name>', 'audience of the license', DEFAULT_AUDIENCE)
    .option('--out <file>', 'write the key to a new file instead of printing it')
    .action(async (options: IssueOptions) => {
      const key = await issueLicense(readSigningKey(options.key), {
        issuer: options.issuer,
        audience: options.audience,
        productId: options.product,
        licenseId: options.id,
        notBefore: options.notBefore,
        expiresAt: options.expires.at,
        quota: options.quota,
        entitlements: options.entitlement,
        sites: options.site,
      })
      if (options.out === undefined) return print(key)
      writeSecret(options.out, `${key}\n`)
      print(`The license key is in ${options.out}.`)
    })
}

function addInspect(command: Command, print: CliContext['print']): void {
  command
    .command('inspect <file>')
    .description('check a license key and print its claims and problems; "-" reads standard input')
    .requiredOption('--key <file>', 'public keys from keygen, or the private key')
    .requiredOption('--issuer <name>', 'the vendor, as in offlineLicensing()')
    .option('--product <id>', 'expected add-on id', wholeNumber)
    .option('--site <host>', 'expected host')
    .option('--audience <name>', 'expected audience', DEFAULT_AUDIENCE)
    .option('--revocations <file>', 'revocation list')
    .action(async (file: string, options: InspectOptions) => {
      const text = (file === '-' ? await allOf(process.stdin) : readText(file)).trim()
      const { issuer, audience } = options
      const trust = { keys: readPublicKeys(options.key), issuer, audience }
      const revocations = options.revocations === undefined ? undefined : await readList(options.revocations, trust)
      const now = Math.floor(Date.now() / 1000)
      const rules = { ...trust, now, productId: options.product, revocations, host: options.site }
      const { claims, problems } = await judgeLicense(text, rules)
      // The site is checked only if --site was passed.
      const asked = problems.filter(({ code }) => code !== 'license_site_mismatch' || options.site !== undefined)
      for (const line of claims ? describe(claims) : []) print(line)
      if (asked.length > 0) throw new CliError(1, asked.map(({ sentence }) => sentence).join('\n'))
      print('This license is valid.')
    })
}

function addRevoke(command: Command, print: CliContext['print']): void {
  command
    .command('revoke <jti...>')
    .description('add license keys to a signed revocation list, by the key ids that "inspect" prints')
    .requiredOption('--key <file>', 'private key from keygen')
    .requiredOption('--issuer <name>', 'the vendor, as in offlineLicensing()')
    .requiredOption('--list <file>', 'revocation list, created if it does not exist')
    .option('--audience <name>', 'audience of the list', DEFAULT_AUDIENCE)
    .action(async (jtis: string[], options: { key: string; issuer: string; list: string; audience: string }) => {
      const { issuer, audience, list } = options
      const signingKey = readSigningKey(options.key)
      const trust = { keys: readPublicKeys(options.key), issuer, audience }
      const known = existsSync(list) ? [...(await readList(list, trust)).jtis] : []
      const all = [...new Set([...known, ...jtis])]
      writeText(list, `${await issueRevocations(signingKey, { issuer, audience, jtis: all })}\n`)
      print(`${list} now revokes ${all.length} license key(s).`)
    })
}

function describe({ sub, pid, iss, iat, nbf, exp, quota, ent, sites, jti }: LicenseClaims): string[] {
  const day = (seconds: number) => new Date(seconds * 1000).toISOString()
  const rows: [string, string | undefined][] = [
    ['License', sub],
    ['Key id (jti)', jti],
    ['Vendor', iss],
    ['Product', String(pid)],
    ['Issued', day(iat)],
    ['Valid from', nbf === undefined ? undefined : day(nbf)],
    ['Expires', exp === null ? 'never' : day(exp)],
    ['Sites', quota === null ? 'unlimited' : String(quota)],
    ['Bound to', sites?.join(', ')],
    ['Entitles to', ent.length > 0 ? ent.join(', ') : undefined],
  ]
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [`${`${name}:`.padEnd(14)}${plainLine(value)}`]))
}

/** Returns the default id of a key: the start of its JWK thumbprint. */
async function thumbprint(key: JsonWebKey): Promise<string> {
  const { calculateJwkThumbprint } = await import('jose')
  return (await calculateJwkThumbprint(publicPart(key))).slice(0, 16)
}

/** Returns the public part of a key. */
function publicPart({ kty, crv, x }: JsonWebKey): { kty: string; crv: string; x: string } {
  return { kty: String(kty), crv: String(crv), x: String(x) }
}

/** Reads a private key that keygen wrote. Ends the command if the file has none. */
function readSigningKey(file: string): SigningKey {
  const { kid, ...key } = Object(readJson(file)) as JsonWebKey & { kid?: unknown }
  if (typeof kid === 'string' && typeof key.d === 'string') return { key, kid }
  throw new CliError(1, `${file} is not a private key from \`sessmgr license keygen\`.`)
}

/** Reads public keys, from the JSON that keygen printed or from its private key file. */
function readPublicKeys(file: string): PublicKeys {
  const json = Object(readJson(file)) as JsonWebKey & { kid?: unknown }
  return checkPublicKeys(typeof json.kid === 'string' ? { [json.kid]: publicPart(json) } : (json as never))
}

/** Reads a revocation list. Ends the command if it is not valid. */
async function readList(file: string, trust: { keys: PublicKeys; issuer: string; audience: string }) {
  const list = await readRevocations(readText(file), trust)
  if ('problem' in list) throw new CliError(1, `The revocation list ${file} is not valid: ${list.problem}.`)
  return list
}

const DAY_MS = 24 * 60 * 60_000

/** Parses a positive integer, such as a product id. */
function wholeNumber(text: string): number {
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It must be an integer of 1 or more.')
}

/** Parses a date. */
function date(text: string): Date {
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse turns February 30 into a day in March.
  if (Number.isNaN(time) || new Date(time).getUTCDate() !== Number(text.slice(8, 10)))
    throw new InvalidArgumentError('It must be a date such as 2027-12-31.')
  return new Date(time)
}

/** Parses an expiry date. The result is an object, because Commander ignores null. */
function expiry(text: string): { at: Date | null } {
  if (text === 'never') return { at: null }
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1]
  return { at: days === undefined ? date(text) : new Date(Date.now() + Number(days) * DAY_MS) }
}

/** Parses a host name, and returns the list with the name added. */
function host(text: string, hosts: string[] = []): string[] {
  if (URL.canParse(`https://${text}`) && new URL(`https://${text}`).hostname === text.toLowerCase()) {
    return [...hosts, text.toLowerCase()]
  }
  throw new InvalidArgumentError('It must be a host name such as shop.example.com.')
}
