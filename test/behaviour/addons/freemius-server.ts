import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { type FreemiusLicensingOptions, freemiusLicensing, LicensingError } from '../../../src/licensing.ts'
import { serve } from '../../support/serve.ts'

/** Secrets that a real answer holds. None of them may come through. */
export const BACKEND_SECRETS = [
  'sk_canary_user_secret_key',
  'sk_canary_install_secret_key',
  'sk_canary_plugin_secret_key',
  'canary_install_api_token',
] as const
export const API_TOKEN = 'canary_product_api_token'
export const PARENT = 99

export type Fault = (request: IncomingMessage, response: ServerResponse) => unknown

export type FreemiusServer = Awaited<ReturnType<typeof startFreemius>>

/** A request that arrived. */
interface Arrived {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what was sent.
  readonly body: any
}

export function providerOf({ baseUrl }: Pick<FreemiusServer, 'baseUrl'>, more: Partial<FreemiusLicensingOptions> = {}) {
  return freemiusLicensing({ productId: PARENT, apiToken: API_TOKEN, baseUrl, ...more })
}

/** Waits for the error of a call that must fail. */
export function failure(call: Promise<unknown>): Promise<LicensingError> {
  return call.then(
    () => expect.unreachable('the call succeeded'),
    (error) => {
      expect(error).toBeInstanceOf(LicensingError)
      return error
    },
  )
}

export function json(status: number, body: unknown): Fault {
  return (_request, response) => sendJson(response, status, body)
}

export function plugin(id: number, more: object = {}): object {
  return {
    id: String(id),
    parent_plugin_id: String(PARENT),
    slug: `addon-${id}`,
    title: `Add-on ${id}`,
    icon: `https://img.example.test/${id}.png`,
    type: 'plugin',
    is_released: true,
    is_pricing_visible: true,
    public_key: `pk_${id}`,
    secret_key: 'sk_canary_plugin_secret_key',
    info: {
      short_description: `Words on ${id}`,
      banner_url: `https://img.example.test/${id}-large.png`,
      card_banner_url: `https://img.example.test/${id}-card.png`,
    },
    ...more,
  }
}

/** Makes the backend's answer that says no. It echoes what was sent, as the real one does. */
export function errorBody(http: number, code: string, body: unknown = {}): object {
  const message = `Refused ${JSON.stringify(body)}`
  const error = { type: 'ApiError', message, code, http, timestamp: 'Thu, 01 Jan 2026 00:00:00 +0000' }
  return { path: '/v1/', error, request: body }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const LICENSE = {
  quota: 1 as number | null,
  expiration: null as string | null,
  is_cancelled: false,
  is_block_features: true,
}

/** Starts the licensing backend on a free port: the shapes and codes of Freemius over real HTTP. */
export async function startFreemius() {
  const licenses = new Map<string, typeof LICENSE & { productId: number; installs: Map<string, number> }>()
  let issued = 0
  const { origin, close } = await serve(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const body = text === '' ? undefined : JSON.parse(text)
    const { method = '', url = '', headers } = request
    self.requests.push({ method, url, headers, body })
    if (self.fault && (await self.fault(request, response)) !== false) return
    const [status, answer] = answerTo(method, new URL(url, 'http://x'), headers, body)
    sendJson(response, status, answer)
  })

  type Answer = [status: number, body: object]
  type Body = Record<string, unknown>
  const refuse = (http: number, code: string, body: unknown): Answer => [http, errorBody(http, code, body)]

  function answerTo(method: string, url: URL, headers: IncomingMessage['headers'], body: Body): Answer {
    const list = /^\/v1\/(products|plugins)\/(\d+)\/addons\.json$/.exec(url.pathname)
    if (method === 'GET' && list) {
      const signed = list[1] === 'plugins' && headers.date !== undefined
      const known = signed ? /^FSP? \d+:pk_\w+:[\w-]{43,}$/ : new RegExp(`^Bearer ${API_TOKEN}$`)
      if (!known.test(headers.authorization ?? '')) return refuse(401, 'unauthorized_access', { headers })
      const [offset, count] = [Number(url.searchParams.get('offset')), Number(url.searchParams.get('count'))]
      return [200, { addons: self.plugins.slice(offset, offset + count) }]
    }
    const change = /^\/v1\/products\/(\d+)\/licenses\/(activate|deactivate)\.json$/.exec(url.pathname)
    if (method === 'POST' && change) {
      const productId = Number(change[1])
      return change[2] === 'activate' ? activate(productId, body) : deactivate(productId, body)
    }
    const check = /^\/v1\/products\/(\d+)\/installs\/(\d*)\/license\.json$/.exec(url.pathname)
    if (method === 'GET' && check) {
      const license = licenses.get(url.searchParams.get('license_key') ?? '')
      if (!license) return refuse(400, 'invalid_license_key', Object.fromEntries(url.searchParams))
      if (license.installs.get(url.searchParams.get('uid') ?? '') !== Number(check[2])) {
        return refuse(404, 'install_not_found', {})
      }
      const { installs, productId, ...rest } = license
      return [200, { plugin_id: String(productId), activated: installs.size, ...rest }]
    }
    return refuse(404, 'resource_not_found', body)
  }

  function activate(productId: number, body: Body): Answer {
    const { license_key: key, uid, install_id: installId } = body
    const license = licenses.get(String(key))
    if (!license || license.productId !== productId) return refuse(400, 'invalid_license_key', body)
    if (license.expiration && license.expiration < '2026-06-01') return refuse(400, 'license_expired', body)
    const known = license.installs.get(String(uid))
    if (known === undefined && license.quota !== null && license.installs.size >= license.quota) {
      return refuse(400, 'license_utilized', body)
    }
    const install = Number(installId ?? known ?? 5000 + ++issued)
    license.installs.set(String(uid), install)
    return [
      200,
      {
        user_id: '11',
        user_secret_key: 'sk_canary_user_secret_key',
        plugin_id: String(productId),
        license_plan_name: 'professional',
        install_id: String(install),
        install_secret_key: 'sk_canary_install_secret_key',
        install_api_token: 'canary_install_api_token',
      },
    ]
  }

  function deactivate(productId: number, body: Body): Answer {
    const license = licenses.get(String(body.license_key))
    const known = license?.installs.get(String(body.uid))
    if (!license || known === undefined || known !== body.install_id) return refuse(404, 'install_not_found', body)
    license.installs.delete(String(body.uid))
    return [200, { id: String(known), plugin_id: String(productId), license_id: null, is_active: true }]
  }

  const self = {
    baseUrl: origin,
    requests: [] as Arrived[],
    licenses,
    /** The add-ons as the backend describes them; may be changed. */
    plugins: [plugin(1001), plugin(1002), plugin(1003, { is_pricing_visible: false, icon: null, info: undefined })],
    /** Answers in place of the backend, when it returns anything but false. */
    fault: undefined as Fault | undefined,
    issue(productId: number, more: Partial<typeof LICENSE> & { installs?: Map<string, number> } = {}) {
      const key = `sk_canary_license_${productId}_${++issued}_0123456789`
      licenses.set(key, { productId, ...LICENSE, installs: new Map(), ...more })
      return key
    },
    close,
  }
  return self
}
