import { LicensingError } from '../licensing/licensing-error.ts'
import type { LicensingProvider, SiteIdentity } from '../licensing/licensing-provider.ts'
import { type OfflineLicensingOptions, resolveOfflineOptions } from './offline-options.ts'
import {
  judgeLicense,
  type LicenseClaims,
  type LicenseJudgement,
  type RevocationList,
  readRevocations,
} from './signed-license.ts'

/**
 * Creates a licensing provider for offline licenses. The vendor signs the license keys, and this machine checks them
 * without network access.
 *
 * The provider cannot count the sites that use a key, but a vendor can bind a key to host names, and revoke it.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * sessmgr({ site: { url: 'https://example.com' }, licensing: offlineLicensing({ catalogue: 'addons.json', issuer: 'acme', keys }) })
 */
export function offlineLicensing(options: OfflineLicensingOptions = {}): LicensingProvider {
  const resolved = resolveOfflineOptions(options)
  const { keys, issuer, audience, clock } = resolved
  let latest = 0

  async function revocations(now: number): Promise<RevocationList | undefined> {
    if (!resolved.readRevocations) return undefined
    const text = await resolved.readRevocations().catch(() => undefined)
    if (typeof text !== 'string') throw unreliable('cannot be read')
    const list = await readRevocations(text, { keys, issuer, audience })
    if ('problem' in list) throw unreliable(`cannot be trusted: ${list.problem}`)
    if (now - list.issuedAt > resolved.revocationsMaxAge) throw unreliable('is too old; get a new one from the vendor')
    return list
  }

  async function judge(call: {
    key: string
    productId: number
    site: SiteIdentity
    seenAt?: string | undefined
    signal?: AbortSignal | undefined
  }): Promise<LicenseJudgement> {
    requireTime(call.signal)
    const now = Math.floor(clock.now() / 1000)
    const seenAt = Math.max(latest, Math.floor(Date.parse(call.seenAt ?? '') / 1000) || 0)
    latest = Math.max(latest, now)
    const host = URL.canParse(call.site.url) ? new URL(call.site.url).hostname : undefined
    const rules = { keys, issuer, audience, now, seenAt, host, productId: call.productId }
    return judgeLicense(call.key, { ...rules, revocations: await revocations(now) })
  }

  return {
    name: 'offline',
    local: true,
    async listAddons({ signal }) {
      requireTime(signal)
      return resolved.readCatalogue()
    },
    async activate(call) {
      const { claims, problems } = await judge(call)
      const [problem] = problems
      if (!claims || problem) {
        throw new LicensingError(problem?.code ?? 'license_invalid', problem && { message: problem.sentence })
      }
      return {
        productId: call.productId,
        key: call.key,
        uid: call.site.uid,
        installId: null,
        plan: claims.ent[0] ?? null,
        activatedAt: new Date(clock.now()).toISOString(),
        expiresAt: expiryOf(claims),
      }
    },
    async deactivate({ signal }) {
      // The provider has nothing to remove, because only sessmgr stores the activation.
      requireTime(signal)
    },
    async validate(call) {
      const { claims, problems } = await judge({ ...call, key: call.activation.key })
      const moved = call.activation.uid === call.site.uid ? undefined : ('license_site_mismatch' as const)
      const reason = problems[0]?.code ?? moved
      const state = { expiresAt: claims ? expiryOf(claims) : null, quota: claims?.quota ?? null, used: null }
      return reason ? { ...state, active: false, reason } : { ...state, active: true }
    },
  }
}

function requireTime(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new LicensingError('provider_unavailable')
}

function expiryOf({ exp }: LicenseClaims): string | null {
  const date = new Date((exp ?? Number.NaN) * 1000)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

function unreliable(problem: string): LicensingError {
  return new LicensingError('provider_unavailable', { message: `The revocation list ${problem}.` })
}
