import { expect } from 'vitest'
import { startHonoHost } from '../behaviour/hosts/hono-host.ts'
import type { Browser } from './browser.ts'
import type { ExampleProcess } from './example-process.ts'
import { startExpressHost } from './express-host.ts'
import { startFastifyHost } from './fastify-host.ts'
import { startKoaHost } from './koa-host.ts'
import type { FuzzTarget } from './run-fuzz.ts'

const API = [
  '/api/sessmgr/v1/settings',
  '/api/sessmgr/v1/sessions?user=alice',
  '/api/sessmgr/v1/sessions/destroy',
  '/api/sessmgr/v1/sessions/destroy-all',
  '/api/sessmgr/v1/addons',
  '/api/wp/v2/settings',
  '/api/openapi.json',
  '/api/nowhere',
]
const PAGES = ['/', '/login', '/me', '/state', '/messages', '/nowhere']
// Passport, and its adapter for Fastify, fail for request targets that are not a path.
const ELSEWHERE = 'http://other.example/'
const ADMIN = ['/admin', '/admin/settings', '/admin/assets/nothing.js']

/** Routes of the example, all of them. */
const EXAMPLE = [
  ...['/', '/login', '/logout', '/me', '/note', '/style.css', '/nowhere'],
  ...['/posts/1', '/posts/2?comments=all', '/posts/5', '/posts/5/password', '/posts/2/comments', '/posts/7/comments'],
  ...['/api/lazycomments/v1/comments?post_id=1', '/api/lazycomments/v1/cache'],
  ...API,
  ...ADMIN,
  ELSEWHERE,
]

interface Started {
  readonly origin: string
  readonly limiter: { readonly sessions: { endAll(userId: number): Promise<unknown> } }
  browser(): Browser
}

/** The applications to be fuzzed, one per framework. */
export const FUZZ_TARGETS: readonly [name: string, start: () => Promise<FuzzTarget>][] = [
  ['Express 4', async () => targetOf(await startExpressHost({ express: 4 }), [...PAGES, ELSEWHERE])],
  ['Express 5', async () => targetOf(await startExpressHost(), [...all(), ELSEWHERE])],
  ['Fastify', async () => targetOf(await startFastifyHost(), all())],
  ['Koa', async () => targetOf(await startKoaHost(), [...all(), ELSEWHERE, '*'])],
  ['explicit calls', async () => targetOf(await startHonoHost(), [...all(), ELSEWHERE, '*'])],
]

function all(): string[] {
  return [...PAGES, '/logout', ...API, ...ADMIN]
}

/** Creates a target for an application in this process. One of its users has signed in and been signed out. */
async function targetOf(host: Started, paths: readonly string[]): Promise<FuzzTarget> {
  const browser = host.browser()
  expect((await browser.login('alice')).status).toBe(200)
  await host.limiter.sessions.endAll(2)
  return { origin: host.origin, paths, ...deadSession(browser) }
}

/** Creates a target for the example in a separate process. */
export async function exampleTarget(example: ExampleProcess): Promise<FuzzTarget> {
  const browser = await example.signedIn('alice')
  await example.signedIn('alice')
  return { origin: example.origin, paths: EXAMPLE, ...deadSession(browser) }
}

function deadSession(browser: Browser): { deadCookie: string; deadId: string } {
  const [name, { value }] = [...browser.cookies].at(-1) as [string, { value: string }]
  const deadId = decodeURIComponent(value).replace(/^s:/, '').split('.')[0] as string
  return {
    deadCookie: [...browser.cookies].map(([key, cookie]) => `${key}=${cookie.value}`).join('; ') || name,
    deadId,
  }
}
