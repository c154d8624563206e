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

/** Returns the command `sessmgr license` for add-on vendors. It needs no configuration. */
export function licenseCommand({ print }: CliContext): Command {
  const command = new Command('license').description('issue, inspect and revoke offline licenses of your add-ons')
  for (const add of [addKeygen, addIssue, addInspect, addRevoke]) add(command, print)
  return command
}

function addKeygen(command: Command, print: CliContext['print']): void {
  command
    .command('keygen [file]')
    .description('create a signing key; write the private key to <file> and print the public key')
    .option('--kid <name>', 'id of the key (default: its thumbprint)')
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
    .requiredOption('--product <id>', 'id of the add-on', wholeNumber)
    .requiredOption('--expires <when>', 'a date such as 2027-12-31, a number of days such as 365d, or never', expiry)
    .option('--not-before <date>', 'first day on which the license is valid', date)
    .option('--quota <number>', 'number of sites (default: unlimited)', wholeNumber)
    .option('--id <id>', 'id of the license (default: random)')
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
    .description('add license keys to a signed revocation list, using the key ids that "inspect" prints')
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
  // Control characters in claims must not reach the terminal.
  const plain = (value: string) => value.replaceAll(/\p{Cc}/gu, ' ')
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [`${`${name}:`.padEnd(14)}${plain(value)}`]))
}
