import type { UserId } from '../ground/user-id.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import type { SessionRecord, Token } from '../sessions/session-record.ts'
import type { AddonRegistration, AddonRow, CliCommands } from './addon-types.ts'
import type { FilterShape, HookEntry } from './bus.ts'

/** Display texts of each mode, by its stored value. */
export type LogicCatalogue = Readonly<
  Record<
    string,
    {
      /** Name of the mode. */
      readonly label: string
      /** What the mode does, in one sentence. */
      readonly desc: string
    }
  >
>

/** How a session came to be registered. */
export interface SessionStart {
  /** Token of the session that the new one replaces in the same browser, or null. */
  readonly replaced: Token | null
  /** Tokens of the sessions that ended to make room for the new one. */
  readonly displaced: readonly Token[]
  /** Whether the session already existed and was registered when it was used, instead of at a login. */
  readonly adopted: boolean
}

/** Why a login was refused. */
export interface LoginRefusal {
  /** The mode that refused the login: the stored value of the `logic` setting. */
  readonly mode: string
  /** How many sessions the user may have. */
  readonly maximum: number
  /** How many live sessions the user has. */
  readonly live: number
  /** The label whose limit was reached, with the `limits` option. `maximum` and `live` then refer to this label. */
  readonly label?: string
  /** Whether the user was asked to choose sessions to end, as in `ask` mode. */
  readonly asked: boolean
}

/** What the limit would have done with a login if it were enforced. */
export interface LimitReport {
  /** The mode that decided: the stored value of the `logic` setting. */
  readonly mode: string
  /** How many sessions the user may have. */
  readonly maximum: number
  /** How many live sessions the user had before the login. */
  readonly live: number
  /** The label whose limit was reached, with the `limits` option. `maximum` and `live` then refer to this label. */
  readonly label?: string
  /** What the limit would have done: refuse the login, ask the user to choose, or end sessions. */
  readonly would: 'refuse' | 'ask' | 'end'
  /** Tokens of the sessions that would have ended. */
  readonly tokens: readonly Token[]
}

/** What is known about the device of a login. */
export interface NewDevice {
  /**
   * Whether the user has no other known device, because they have not signed in since the `device` option was turned
   * on, or for 400 days. If so, there is no other device on which to warn them.
   */
  readonly firstEver: boolean
}

/** The client that has failed to prove that it is the device to which a session is bound. */
export interface StolenSession {
  /** Its address, determined by your framework's proxy settings. Null if unknown. */
  readonly ip: string | null
  /** Its `User-Agent` header. Null if it has sent none. */
  readonly userAgent: string | null
}

/** Actions of the session limit. `token` is always the hashed session token. */
export interface SessionActions {
  /** Fires once for each `sessmgr()`, in the next turn of the event loop; `core` is the limiter. */
  sessmgr_init: [core: unknown]
  /** Fires after `block` mode, or `ask` without a choice page, has refused a login. Subscribers cannot admit it. */
  sessmgr_login_blocked: [userId: UserId]
  /** Fires after `allow` mode or a forced logout of one user has ended all of the user's sessions. */
  sessmgr_destroy_all_sessions: [userId: UserId]
  /** Fires once for each session that `logout_oldest` mode has ended. */
  sessmgr_destroy_oldest_session: [userId: UserId]
  /** Fires for each session ended by its token, `endOthers()`, `idle_release`, `logout_idlest` mode or token reuse. */
  sessmgr_destroy_session: [userId: UserId, token: string]
  /** Fires once for each site-wide logout; `epoch` is its time in Unix seconds, by the store's clock. */
  sessmgr_logout_all_users: [epoch: number]
  /** Fires at most once per session ended by a site-wide logout, when the session is next used in any process. */
  sessmgr_session_invalidated: [userId: UserId, token: string]
  /**
   * Fires when `boundSessions()` has ended a session, because a client has sent its cookie and a proof that was signed
   * with another key.
   */
  sessmgr_session_stolen: [session: SessionRecord, about: StolenSession]
  /** Fires when a session is registered, at login or on first use. */
  sessmgr_session_started: [session: SessionRecord, how: SessionStart]
  /**
   * Fires at most once for each session that ends before it expires, in any process. After a site-wide logout, it fires
   * when a session is next used.
   */
  sessmgr_session_ended: [session: SessionRecord, end: SessionEnd]
  /** Fires when a mode has refused a login. */
  sessmgr_login_refused: [userId: UserId, refusal: LoginRefusal]
  /** Fires after a login that the limit would have affected, if the limit is not enforced. */
  sessmgr_would_limit: [userId: UserId, report: LimitReport]
  /**
   * Fires after an admitted login from a browser that the user has not signed in with before. Requires the `device`
   * option.
   */
  sessmgr_new_device: [session: SessionRecord, about: NewDevice]
  /** Fires after a user was erased, so that you can erase them too. */
  sessmgr_user_erased: [userId: UserId]
  /** Fires on the command line once the configuration is loaded; `cli` registers add-on commands. */
  sessmgr_cli_init: [cli: CliCommands]
}

/** Filters of the session limit. */
export interface SessionFilters {
  /** Changes the default settings, each time the settings are read. */
  sessmgr_settings_defaults: FilterShape<Readonly<Record<string, unknown>>>
  /** Changes the display texts of each mode, by its stored value. */
  sessmgr_logics: FilterShape<LogicCatalogue>
  /** Changes the variables that the admin screen starts with. Must return an object. */
  sessmgr_admin_script_vars: FilterShape<Readonly<Record<string, unknown>>>
  /**
   * Registers an add-on under its product id, a positive integer. Invalid registrations are left out and logged.
   */
  sessmgr_register_addon: FilterShape<Readonly<Record<number, AddonRegistration>>>
  /** Changes the rows of the add-on catalogue; `raw` is the list from the licensing provider. Must return an array. */
  sessmgr_addons_catalog: FilterShape<readonly AddonRow[], [raw: readonly unknown[]]>
  /**
   * Decides whether a login reaches the limit; `count` is the number of live sessions before it. Must return true or
   * false.
   */
  sessmgr_reached_limit: FilterShape<boolean, [userId: UserId, count: number]>
  /** Exempts a user from the limit if true; `sessmgr_reached_limit` is then not applied. Must return true or false. */
  sessmgr_bypass: FilterShape<boolean, [userId: UserId]>
  /**
   * Decides whether the limit is enforced for a user who has reached it, or only reports what it would do. The value is
   * the `enforce` setting. Must return true or false. If a subscriber fails, the limit is enforced.
   */
  sessmgr_enforce: FilterShape<boolean, [userId: UserId]>
  /**
   * Decides how many sessions this user may have, for the limit and for the mode. Must return an integer of 1 or more.
   */
  sessmgr_maximum: FilterShape<number, [userId: UserId]>
  /** Changes the message that a blocked user reads: plain text, which must be escaped for display. */
  sessmgr_error_message: FilterShape<string>
  /** Changes the lifetime from which `limiter.sessionLife()` computes its result, in seconds. Must return a number. */
  auth_cookie_expiration: FilterShape<number, [userId: UserId, remember: boolean]>
  /**
   * Changes the whole new value of an option after it was sanitized, as in `pre_update_option_sessmgr_settings`.
   *
   * `requested` is the value before it was sanitized; for an object, only the keys to change. The result is sanitized
   * again before it is stored.
   */
  [name: `pre_update_option_${string}`]: FilterShape<unknown, [oldValue: unknown, requested?: unknown]>
}

/** The catalogue of all session limit hooks. */
export const sessionHooks = {
  actions: {
    sessmgr_init: {
      parameters: ['core'],
      summary: 'Fires once for each sessmgr(), in the next turn of the event loop; core is the limiter.',
    },
    sessmgr_login_blocked: {
      parameters: ['user_id'],
      summary: 'Fires after `block` mode, or `ask` without a choice page, has refused a login.',
    },
    sessmgr_destroy_all_sessions: {
      parameters: ['user_id'],
      summary: "Fires after allow mode or a forced logout of one user has ended all of the user's sessions.",
    },
    sessmgr_destroy_oldest_session: {
      parameters: ['user_id'],
      summary: 'Fires once for each session that logout_oldest mode has ended.',
    },
    sessmgr_destroy_session: {
      parameters: ['user_id', 'token'],
      summary:
        'Fires for each session ended by its token, endOthers(), idle_release, logout_idlest mode or token reuse.',
    },
    sessmgr_logout_all_users: {
      parameters: ['epoch'],
      summary: "Fires once for each site-wide logout; epoch is its time in Unix seconds, by the store's clock.",
    },
    sessmgr_session_invalidated: {
      parameters: ['user_id', 'token'],
      summary:
        'Fires at most once per session ended by a site-wide logout, when the session is next used in any process.',
    },
    sessmgr_session_stolen: {
      parameters: ['session', 'about'],
      summary:
        'Fires when a client has sent the cookie of a bound session and a proof that was signed with another key.',
    },
    sessmgr_session_started: {
      parameters: ['session', 'how'],
      summary: 'Fires when a session is registered, at login or on first use.',
    },
    sessmgr_session_ended: {
      parameters: ['session', 'end'],
      summary: 'Fires at most once for each session that ends before it expires, in any process.',
    },
    sessmgr_login_refused: {
      parameters: ['user_id', 'refusal'],
      summary: 'Fires when a mode has refused a login.',
    },
    sessmgr_would_limit: {
      parameters: ['user_id', 'report'],
      summary: 'Fires after a login that the limit would have affected, if the limit is not enforced.',
    },
    sessmgr_new_device: {
      parameters: ['session', 'about'],
      summary: 'Fires after an admitted login from a browser that the user has not signed in with before.',
    },
    sessmgr_user_erased: {
      parameters: ['user_id'],
      summary: 'Fires after a user was erased, so that you can erase them too.',
    },
    sessmgr_cli_init: {
      parameters: ['cli'],
      summary: 'Fires on the command line once the configuration is loaded; cli registers add-on commands.',
    },
  },
  filters: {
    sessmgr_settings_defaults: {
      parameters: ['defaults'],
      summary: 'Changes the default settings, each time the settings are read.',
    },
    sessmgr_logics: {
      parameters: ['logics'],
      summary: 'Changes the display texts of each mode, by its stored value.',
    },
    sessmgr_admin_script_vars: {
      parameters: ['vars'],
      summary: 'Changes the variables that the admin screen starts with.',
    },
    sessmgr_register_addon: {
      parameters: ['addons'],
      summary: 'Registers an add-on under its product id, a positive integer.',
    },
    sessmgr_addons_catalog: {
      parameters: ['items', 'raw'],
      summary: 'Changes the rows of the add-on catalogue; raw is the list from the licensing provider.',
    },
    sessmgr_reached_limit: {
      parameters: ['reached', 'user_id', 'count'],
      summary: 'Decides whether a login reaches the limit; count is the number of live sessions before it.',
    },
    sessmgr_bypass: {
      parameters: ['bypass', 'user_id'],
      summary: 'Exempts a user from the limit if true; sessmgr_reached_limit is then not applied.',
    },
    sessmgr_enforce: {
      parameters: ['enforce', 'user_id'],
      summary: 'Decides whether the limit is enforced for a user who has reached it, or only reports what it would do.',
    },
    sessmgr_maximum: {
      parameters: ['maximum', 'user_id'],
      summary: 'Decides how many sessions this user may have, for the limit and for the mode.',
    },
    sessmgr_error_message: {
      parameters: ['message'],
      summary: 'Changes the message that a blocked user reads: plain text, which must be escaped for display.',
    },
    auth_cookie_expiration: {
      parameters: ['seconds', 'user_id', 'remember'],
      summary: 'Changes the lifetime from which limiter.sessionLife() computes its result, in seconds.',
    },
    'pre_update_option_{name}': {
      parameters: ['value', 'old_value', 'requested'],
      summary:
        'Changes the whole new value of an option after it was sanitized, as in pre_update_option_sessmgr_settings.',
    },
  },
} satisfies {
  actions: Record<keyof SessionActions, HookEntry>
  filters: Record<keyof SessionFilters, HookEntry>
}
