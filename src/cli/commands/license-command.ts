import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { text as allOf } from 'node:stream/consumers'
import { Command } from 'commander'
import { issueLicense, issueRevocations } from '../../features/addons/offline/issue-license.ts'
import { judgeLicense } from '../../features/addons/offline/judge-license.ts'
import { DEFAULT_AUDIENCE, type LicenseClaims } from '../../features/addons/offline/license-claims.ts'
import type { CliContext } from '../cli-context.ts'
import { CliError } from '../cli-error.ts'
import { readText, writeSecret, writeText } from '../text-files.ts'
import { date, expiry, host, wholeNumber } from './license-arguments.ts'
import { publicPart, readList, readPublicKeys, readSigningKey, thumbprint } from './license-keys.ts'

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

/** `sessmgr license`: what the vendor of an add-on does with offline licences. Needs no configuration. */
export function licenseCommand({ print }: CliContext): Command {
  const command = new Command('license').description('make, issue, inspect and revoke offline licences, as a vendor')
  for (const add of [addKeygen, addIssue, addInspect, addRevoke]) add(command, print)
  return command
}

function addKeygen(command: Command, print: CliContext['print']): void {
  command
    .command('keygen [file]')
    .description('make a signing key: the private one goes into the file, the public one is printed')
    .option('--kid <name>', 'name of the key (default: its thumbprint)')
    .option('--print-private', 'print the private key, and write no file')
    .action(async (file: string | undefined, options: { kid?: string; printPrivate?: boolean }) => {
      if (file === undefined && !options.printPrivate) throw new CliError(2, 'Name a file for the private key.')
      const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
      const kid = options.kid ?? (await thumbprint(key))
      const text = JSON.stringify({ ...key, kid, alg: 'EdDSA', use: 'sig' }, null, 2)
      if (file === undefined || options.printPrivate) return print(text)
      writeSecret(file, `${text}\n`)
      print(JSON.stringify({ [kid]: publicPart(key) }, null, 2))
      process.stderr.write(`The private key is in ${file}; keep it. Above are the "keys" of offlineLicensing().\n`)
    })
}

function addIssue(command: Command, print: CliContext['print']): void {
  command
    .command('issue')
    .description('issue a licence key')
    .requiredOption('--key <file>', 'the private key that keygen made')
    .requiredOption('--issuer <name>', 'the vendor, as applications know it')
    .requiredOption('--product <id>', 'id of the add-on', wholeNumber)
    .requiredOption('--expires <when>', 'a date such as 2027-12-31, a number of days such as 365d, or never', expiry)
    .option('--not-before <date>', 'the first day it is good on', date)
    .option('--quota <number>', 'sites it is sold for (default: any number)', wholeNumber)
    .option('--id <id>', 'id of the licence (default: a random one)')
    .option('--site <host...>', 'hosts it is bound to (default: any)', host)
    .option('--entitlement <name...>', 'what it entitles to; the first one is its plan')
    .option('--audience <name>', 'whom it is for', DEFAULT_AUDIENCE)
    .option('--out <file>', 'write it into a new file, and do not print it')
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
      print(`The licence key is in ${options.out}.`)
    })
}

function addInspect(command: Command, print: CliContext['print']): void {
  command
    .command('inspect <file>')
    .description('tell in words whether a licence key is good, and why not; "-" reads it from the input')
    .requiredOption('--key <file>', 'the public keys that keygen printed, or the private key')
    .requiredOption('--issuer <name>', 'the vendor, as applications know it')
    .option('--product <id>', 'id of the add-on it should be for', wholeNumber)
    .option('--site <host>', 'host it should be for')
    .option('--audience <name>', 'whom it should be for', DEFAULT_AUDIENCE)
    .option('--revocations <file>', 'the revocation list')
    .action(async (file: string, options: InspectOptions) => {
      const text = (file === '-' ? await allOf(process.stdin) : readText(file)).trim()
      const { issuer, audience } = options
      const trust = { keys: readPublicKeys(options.key), issuer, audience }
      const revocations = options.revocations === undefined ? undefined : await readList(options.revocations, trust)
      const now = Math.floor(Date.now() / 1000)
      const rules = { ...trust, now, productId: options.product, revocations, host: options.site }
      const { claims, problems } = await judgeLicense(text, rules)
      // Without --site nobody has asked whether it is for one.
      const asked = problems.filter(({ code }) => code !== 'license_site_mismatch' || options.site !== undefined)
      for (const line of claims ? describe(claims) : []) print(line)
      if (asked.length > 0) throw new CliError(1, asked.map(({ sentence }) => sentence).join('\n'))
      print('This licence is good.')
    })
}

function addRevoke(command: Command, print: CliContext['print']): void {
  command
    .command('revoke <jti...>')
    .description('put licence keys on a signed revocation list; inspect tells the id of a key, its jti')
    .requiredOption('--key <file>', 'the private key that keygen made')
    .requiredOption('--issuer <name>', 'the vendor, as applications know it')
    .requiredOption('--list <file>', 'the revocation list; a new one is begun where there is none')
    .option('--audience <name>', 'whom it is for', DEFAULT_AUDIENCE)
    .action(async (jtis: string[], options: { key: string; issuer: string; list: string; audience: string }) => {
      const { issuer, audience, list } = options
      const signingKey = readSigningKey(options.key)
      const trust = { keys: readPublicKeys(options.key), issuer, audience }
      const known = existsSync(list) ? [...(await readList(list, trust)).jtis] : []
      const all = [...new Set([...known, ...jtis])]
      writeText(list, `${await issueRevocations(signingKey, { issuer, audience, jtis: all })}\n`)
      print(`${list} revokes ${all.length} licence key(s) now.`)
    })
}

function describe({ sub, pid, iss, iat, nbf, exp, quota, ent, sites, jti }: LicenseClaims): string[] {
  const day = (seconds: number) => new Date(seconds * 1000).toISOString()
  const rows: [string, string | undefined][] = [
    ['Licence', sub],
    ['Key id (jti)', jti],
    ['Vendor', iss],
    ['Product', String(pid)],
    ['Issued', day(iat)],
    ['Good from', nbf === undefined ? undefined : day(nbf)],
    ['Expires', exp === null ? 'never' : day(exp)],
    ['Sites', quota === null ? 'any number' : String(quota)],
    ['Bound to', sites?.join(', ')],
    ['Entitles to', ent.length > 0 ? ent.join(', ') : undefined],
  ]
  // What a vendor has signed is not for a terminal to obey.
  const plain = (value: string) => value.replaceAll(/\p{Cc}/gu, ' ')
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [`${`${name}:`.padEnd(14)}${plain(value)}`]))
}
