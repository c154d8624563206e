import { SENTENCES } from '../../src/features/addons/licensing.ts'
import { type AddonCode, type LicensingCode, LicensingError, type LicensingProvider } from '../../src/licensing.ts'
import type { RestAnswer } from '../support/rest-client.ts'
import { startRestHost } from '../support/rest-host.ts'

/** An answer of a route of the add-ons. */
export interface AddonError {
  /** What the table calls the route. */
  readonly routes: 'catalogue' | 'license'
  readonly status: number
  readonly code: string
  /** Names of what stands in `data` beside the status. */
  readonly data: readonly string[]
  readonly retryAfter: string | undefined
}

const ADDON = {
  id: 1001,
  slug: 'role',
  title: 'Role',
  is_premium: true,
  icon: null,
  link: '',
  description: '',
  homepage: '',
  banner: '',
  banner_large: '',
  raw: {},
}

/** Asks the routes of the add-ons while the licensing fails in every way that has a code, and lists what they answer. */
export async function addonErrors(): Promise<readonly AddonError[]> {
  let failing: { at: 'catalogue' | 'license'; code: string } | undefined
  const fail = (at: 'catalogue' | 'license') => {
    if (failing?.at !== at) return
    throw new LicensingError(failing.code as LicensingCode | AddonCode, { providerCode: 'its_own' })
  }
  const licensing: LicensingProvider = {
    name: 'failing',
    local: true,
    async listAddons() {
      fail('catalogue')
      return [ADDON]
    },
    async activate({ productId, key, site }) {
      fail('license')
      const plain = { installId: null, plan: null, expiresAt: null }
      return { productId, key, uid: site.uid, activatedAt: new Date().toISOString(), ...plain }
    },
    async deactivate() {
      fail('license')
    },
  }
  const host = await startRestHost({ sessmgr: { licensing } })
  try {
    const headers = await host.scriptOf('admin')
    const found = new Map<string, AddonError>()
    async function askAll(at: 'catalogue' | 'license'): Promise<void> {
      for (const code of Object.keys(SENTENCES)) {
        failing = { at, code }
        for (const [method, path] of ROUTES[at]) {
          const answer = await host.call(method, `/sessmgr/v1${path}`, { headers, json: { key: 'key' } })
          found.set(`${at} ${answer.status} ${answer.json.code}`, told(at, answer))
        }
      }
      failing = undefined
    }
    // First of all, because a catalogue that was had once is kept for when the provider fails.
    await askAll('catalogue')
    await host.limiter.addons.activate(ADDON.id, 'key')
    await askAll('license')
    return [...found.values()]
  } finally {
    await host.close()
  }
}

const ROUTES = {
  catalogue: [
    ['GET', '/addons'],
    ['POST', '/addons/refresh'],
  ],
  license: [
    ['POST', `/addons/${ADDON.id}/license`],
    ['DELETE', `/addons/${ADDON.id}/license`],
  ],
} as const

function told(routes: AddonError['routes'], { status, json, headers }: RestAnswer): AddonError {
  const data = Object.keys(json.data).filter((name) => name !== 'status')
  return { routes, status, code: json.code, data, retryAfter: headers['retry-after'] as string | undefined }
}
