import * as z from 'zod/mini'
import type { HostResponse, RoutedRequest } from '../../door/host-types.ts'
import type { SignedOutNotice } from '../../door/notice/notice.ts'
import { RestAnswer, RestError, tooManyAttempts } from '../../routes/answer.ts'
import { type Caller, requireCaller } from '../../routes/caller.ts'
import { OWN_ROUTES } from '../../routes/late-routes.ts'
import { type RestRoute, restRoute } from '../../routes/router.ts'
import { deviceName } from '../../sessions/device.ts'
import { type Login, TOKEN_PATTERN } from '../../sessions/session-record.ts'
import type { Account } from './account-page.ts'
import type { AccountFeature } from './pages-feature.ts'

const sessionSchema = z.object({
  token: z.string(),
  current: z.boolean(),
  device: z.nullable(z.string()),
  kind: z.nullable(z.enum(['computer', 'phone', 'tablet', 'program'])),
  ip: z.optional(z.nullable(z.string())),
  created_at: z.int(),
  last_seen_at: z.int(),
  expires_at: z.int(),
  same_browser: z.boolean(),
  counts: z.boolean(),
  acting: z.boolean(),
  bound: z.boolean(),
})

/** Returns the notice for a user who was signed out. */
export type NoticeFor = (request: RoutedRequest, response: HostResponse) => Promise<SignedOutNotice | undefined>

/** What these routes have in common: they require a signed-in caller, and concern only the caller's own sessions. */
const OWN = { access: requireCaller, isOwn: true } as const

/**
 * Returns the routes for the caller's own sessions. Until the account page is mounted, only the route of the notice
 * works, because the application may not want its users to end sessions.
 */
export function accountRoutes(
  { current, isMounted }: Pick<AccountFeature, 'current' | 'isMounted'>,
  noticeFor: NoticeFor,
): readonly RestRoute[] {
  const own = [listRoute(current), endRoute(current), endOthersRoute(current), passwordRoute(current)]
  const lacks = () => (isMounted() ? undefined : 'limiter.account()')
  return [...own.map((route) => ({ ...route, lacks })), noticeRoute(noticeFor)]
}

function listRoute(account: () => Promise<Account>): RestRoute {
  return restRoute({
    ...OWN,
    methods: ['GET'],
    path: `${OWN_ROUTES}sessions`,
    summary: "Lists the caller's own live sessions, last used first. Times are in milliseconds since the Unix epoch.",
    schemas: () => ({
      params: z.object({}),
      response: z.object({
        sessions: z.array(sessionSchema),
        count: z.int(),
        maximum: z.nullable(z.int()),
        mode: z.string(),
        step_up: z.enum(['none', 'login', 'password', 'url']),
      }),
    }),
    async handle({ caller }) {
      const { own, stepUp, showsIp } = await account()
      const { sessions, current, maximum, mode } = await own.list(readerOf(caller))
      const rows = sessions.map(async (record) => {
        const { name, kind } = await deviceName(record.userAgent)
        return {
          token: record.token,
          current: record === current,
          device: name,
          kind,
          ...(showsIp && { ip: record.ip }),
          created_at: record.createdAt,
          last_seen_at: record.lastSeenAt,
          expires_at: record.expiresAt,
          same_browser: record.device !== null && record.device === current?.device,
          counts: record.counts,
          acting: record.actor !== null,
          bound: record.bound !== null,
        }
      })
      return {
        sessions: await Promise.all(rows),
        count: sessions.filter(({ counts }) => counts).length,
        maximum,
        mode: mode.id,
        step_up: stepUp.kind,
      }
    },
  })
}

function endRoute(account: () => Promise<Account>): RestRoute {
  return restRoute<{ token: string }>({
    ...OWN,
    methods: ['POST'],
    path: `${OWN_ROUTES}sessions/end`,
    summary: "Ends one of the caller's own sessions, except the current one.",
    needsBody: true,
    schemas: () => ({
      params: z.object({
        token: z
          .string('must be a string')
          .check(z.regex(TOKEN_PATTERN, 'must be a session token: 64 hexadecimal digits')),
      }),
      response: z.object({ ended: z.boolean() }),
    }),
    async handle({ caller, params: { token } }) {
      const reader = readerOf(caller)
      const { own, stepUp } = await account()
      if (token === reader.token) {
        throw new RestError(409, 'session_is_current', 'This is the current session. Log out instead.')
      }
      await requireProof(reader, stepUp)
      if (await own.end(reader, token)) return { ended: true }
      throw new RestError(404, 'session_not_found', 'You have no session with this token.')
    },
  })
}

function endOthersRoute(account: () => Promise<Account>): RestRoute {
  return restRoute({
    ...OWN,
    methods: ['POST'],
    path: `${OWN_ROUTES}sessions/end-others`,
    summary: "Ends all of the caller's own sessions except the current one, and returns how many it ended.",
    schemas: () => ({ params: z.object({}), response: z.object({ ended: z.int() }) }),
    async handle({ caller }) {
      const reader = readerOf(caller)
      const { own, stepUp } = await account()
      await requireProof(reader, stepUp)
      const ended = await own.endOthers(reader)
      if (ended === undefined) await requireCaller(undefined)
      return { ended }
    },
  })
}

function passwordRoute(account: () => Promise<Account>): RestRoute {
  return restRoute<{ password: string }>({
    ...OWN,
    methods: ['POST'],
    path: `${OWN_ROUTES}reauthenticate`,
    summary: "Checks the caller's password, if the application requires it to end sessions.",
    needsBody: true,
    schemas: () => ({
      params: z.object({ password: z.string('must be a string') }),
      response: z.object({ until: z.int() }),
    }),
    async handle({ caller, request, params: { password } }) {
      const { stepUp } = await account()
      if (stepUp.kind !== 'password') throw new RestError(404, 'rest_no_route', 'This route does not exist.')
      const result = await stepUp.tryPassword(request, readerOf(caller), password)
      if (result.kind === 'right') return { until: result.until }
      if (result.kind === 'wrong') throw new RestError(403, 'wrong_password', 'This password is wrong.')
      throw tooManyAttempts(result.retryAt)
    },
  })
}

function noticeRoute(noticeFor: NoticeFor): RestRoute {
  return restRoute({
    methods: ['GET'],
    path: `${OWN_ROUTES}notice`,
    summary: 'Returns the notice for a signed-out user, for ten minutes or until the next login; 204 if there is none.',
    access: undefined,
    schemas: () => ({
      params: z.object({}),
      response: z.object({
        reason: z.enum(['ended', 'logout_all', 'missing']),
        kind: z.nullable(z.string()),
        at: z.nullable(z.string()),
        device: z.nullable(z.string()),
        title: z.string(),
        text: z.string(),
        advice: z.optional(z.string()),
        advice_url: z.optional(z.string()),
      }),
    }),
    async handle({ request, response }) {
      const notice = await noticeFor(request, response)
      if (!notice) return new RestAnswer('', { status: 204, headers: { 'Cache-Control': 'no-store' } })
      const { reason, cause, at = null, title, text, advice, adviceUrl } = notice
      const { kind = null, device = null } = cause ?? {}
      return { reason, kind, at, device, title, text, advice, advice_url: adviceUrl }
    },
  })
}

async function requireProof(reader: Login, stepUp: Account['stepUp']): Promise<void> {
  if (await stepUp.isProved(reader)) return
  const { kind, url } = stepUp
  throw new RestError(403, 'reauthentication_required', 'Confirm your identity first. Nothing was ended.', {
    data: { how: kind, ...(url !== undefined && { url }) },
  })
}

/** Returns the caller's session, which every caller of these routes has. */
function readerOf(caller: Caller | undefined): Login {
  const { userId, token } = caller as Login
  return { userId, token }
}
