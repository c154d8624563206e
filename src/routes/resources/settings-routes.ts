import * as z from 'zod/mini'
import type { HostRequest } from '../../guard/host-types.ts'
import { changedSince, optionTag } from '../../options/option-tag.ts'
import type { SettingsService } from '../../options/session-settings.ts'
import {
  A_MAXIMUM,
  A_SWITCH,
  AN_IDLE_RELEASE,
  LEAST,
  oneOf,
  SETTING_NAMES,
  type SessionSettings,
} from '../../options/setting-rules.ts'
import type { LogicModes } from '../../strategies/logic-catalogue.ts'
import { byAdmin } from '../caller.ts'
import { RestAnswer } from '../rest-answer.ts'
import { RestError } from '../rest-error.ts'
import { type RestRoute, restRoute } from '../rest-route.ts'

/**
 * A maximum as JSON, or as the digits of a form field. Numbers that are too large are refused later, by the settings.
 */
const maximum = z.union(
  [
    z.int({ abort: true }).check(z.minimum(LEAST, { abort: true })),
    z.string().check(z.regex(/^0*[1-9]\d*$/, { abort: true })),
  ],
  `must be ${A_MAXIMUM}`,
)

/** An idle release as JSON, or as the digits of a form field. The settings refuse times that are too short. */
const idleRelease = z.union(
  [z.int({ abort: true }).check(z.minimum(0, { abort: true })), z.string().check(z.regex(/^\d+$/, { abort: true }))],
  `must be ${AN_IDLE_RELEASE}`,
)

/** A switch as JSON, or as the value of a form field. */
const enforce = z.union([z.boolean(), z.enum(['true', 'false'])], `must be ${A_SWITCH}`)

/** Reads, changes and resets the settings of the session limit, and shows where each value comes from. */
export function settingsRoutes(settings: SettingsService, modes: LogicModes): readonly RestRoute[] {
  const path = '/sessmgr/v1/settings'
  const access = 'manage_options'
  const response = z.object({ maximum: z.int(), logic: z.string(), idle_release: z.int(), enforce: z.boolean() })
  const key = z.object({ key: z.enum(SETTING_NAMES, oneOf(SETTING_NAMES)) })
  const value = z.union([z.int(), z.string(), z.boolean()])
  const { name } = settings.option
  const answer = (current: SessionSettings) =>
    RestAnswer.json(Object.fromEntries(SETTING_NAMES.map((key) => [key, current[key]])), {
      headers: { ETag: optionTag({ [name]: current }) },
    })
  return [
    restRoute({
      methods: ['GET'],
      path,
      summary: 'Reads the settings of the session limit.',
      access,
      isTagged: true,
      schemas: () => ({ params: z.object({}), response }),
      handle: async () => answer(await settings.get()),
    }),
    restRoute<Partial<SessionSettings>>({
      methods: ['POST', 'PUT', 'PATCH'],
      path,
      summary: 'Changes settings of the session limit. Omitted settings keep their values.',
      access,
      async schemas() {
        const logics = Object.keys(await modes.catalogue())
        const logic = z.enum(logics as [string, ...string[]], oneOf(logics))
        return { params: z.partial(z.object({ maximum, logic, idle_release: idleRelease, enforce })), response }
      },
      needsBody: true,
      async handle({ params, request, caller }) {
        const refuse = (current: SessionSettings) =>
          refuseIfChanged(request, [{ name, current, requested: params, prefix: '' }])
        return answer(await settings.update(params, refuse, byAdmin(caller)))
      },
    }),
    restRoute<{ key: keyof SessionSettings }>({
      methods: ['GET'],
      path: `${path}/{key}`,
      summary: 'Returns whether a setting of the session limit is stored, and its default.',
      access,
      schemas: () => ({ params: key, response: z.object({ value, stored: z.boolean(), default: value }) }),
      async handle({ params: { key } }) {
        const { stored, defaults } = await settings.option.sources()
        return { value: stored?.[key] ?? defaults[key], stored: stored?.[key] !== undefined, default: defaults[key] }
      },
    }),
    restRoute<{ key: keyof SessionSettings }>({
      methods: ['DELETE'],
      path: `${path}/{key}`,
      summary: 'Deletes a stored setting of the session limit, so that its default applies. Returns all settings.',
      access,
      schemas: () => ({ params: key, response }),
      handle: async ({ params: { key }, caller }) => answer(await settings.reset(key, byAdmin(caller))),
    }),
    restRoute({
      methods: ['DELETE'],
      path,
      summary: 'Deletes all stored settings of the session limit, so that the defaults apply.',
      access,
      schemas: () => ({ params: z.object({}), response }),
      handle: async ({ caller }) => answer(await settings.reset(undefined, byAdmin(caller))),
    }),
  ]
}

interface OptionWrite {
  readonly name: string
  /** The value to be replaced. */
  readonly current: unknown
  readonly requested: unknown
  /** Prefix of keys in the response, or an empty string if the route serves only this option. */
  readonly prefix: string
}

/**
 * Refuses to write keys that have changed since the caller read them, according to `If-Match`.
 *
 * @throws RestError 409 `settings_changed` with both values of each such key.
 */
export function refuseIfChanged(request: HostRequest, writes: readonly OptionWrite[]): void {
  const tag = request.headers['if-match']
  if (tag === undefined || tag.trim() === '*') return
  const changed = writes.flatMap(({ name, current, requested, prefix }) =>
    changedSince(tag, name, current, requested).map(({ key, ...values }) => [
      [prefix, key].filter((part) => part !== '').join('.'),
      values,
    ]),
  )
  if (changed.length === 0) return
  throw new RestError(
    409,
    'settings_changed',
    'The settings have changed since you read them, and nothing was saved. Read them again, then save.',
    { data: { changed: Object.fromEntries(changed) } },
  )
}
