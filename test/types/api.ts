/**
 * What compiles and what does not, for those who use the package. Compiled with the project, never run: every
 * `@ts-expect-error` that stands above a line without an error is an error itself.
 */
import express from 'express'
import {
  type Hooks,
  hookCatalogue,
  type LimitStrategy,
  type LogicCatalogue,
  memoryStore,
  type SessionRecord,
  type SessionSettings,
  type Sessmgr,
  SessmgrError,
  type SessmgrErrorCode,
  type SessmgrOptions,
  type SessmgrStore,
  sessmgr,
  tokenOf,
  type UserId,
} from 'sessmgr'
import { type FakeClock, fakeClock, registerDocumentDriverContract, signIn } from 'sessmgr/testing'
import { agent } from 'supertest'
import { describe, it } from 'vitest'

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type IsAny<T> = 0 extends 1 & T ? true : false
const yes = <_Condition extends true>() => {}
const no = <_Condition extends false>() => {}

// First of all: were one of these `any`, nothing below would prove anything.
no<IsAny<Sessmgr>>()
no<IsAny<Hooks>>()
no<IsAny<SessmgrOptions>>()
no<IsAny<SessmgrStore>>()
no<IsAny<SessionRecord>>()
no<IsAny<Sessmgr['hooks']>>()
no<IsAny<Sessmgr['sessions']>>()
no<IsAny<Sessmgr['settings']>>()
no<IsAny<SessmgrError['code']>>()
no<IsAny<ReturnType<typeof memoryStore>>>()
yes<IsAny<ReturnType<typeof JSON.parse>>>()

// The service.
const limiter: Sessmgr = sessmgr()
express().use(limiter)
yes<Equals<Sessmgr['hooks'], Hooks>>()
yes<Equals<Awaited<ReturnType<typeof limiter.sessions.list>>, readonly SessionRecord[]>>()
yes<Equals<Awaited<ReturnType<typeof limiter.settings.get>>, SessionSettings>>()
yes<Equals<UserId, string | number>>()

// Options.
sessmgr({})
sessmgr({ store: memoryStore(), settings: { maximum: 2, logic: 'logout_oldest' }, deadlineMs: 500 })
sessmgr({ store: undefined, settings: { maximum: undefined } })
sessmgr({ userId: (user: { _id: string }) => user._id, sessionUser: (data) => data.uid as number | undefined })
sessmgr({ logger: console })
sessmgr({ settings: { maximum: async (userId) => (userId === 7 ? 5 : 1), logic: 'a_mode_of_an_addon' } })
// An editor offers the built-in modes: they are not swallowed by `string`.
no<Equals<SessionSettings['logic'], string>>()
// @ts-expect-error: the function returns a number
sessmgr({ settings: { maximum: () => 'many' } })
const strategy: LimitStrategy = {
  id: 'ask_first',
  label: 'Ask First',
  desc: 'The user chooses.',
  decide: ({ sessions, maximum, userId }) => ({
    admit: sessions.length < maximum,
    end: sessions.slice(0, 1),
    actions: [['sessmgr_destroy_oldest_session', userId]],
  }),
}
sessmgr({ strategies: [strategy], settings: { logic: 'ask_first' } })

// @ts-expect-error an option that does not exist
sessmgr({ maximum: 2 })
// @ts-expect-error a setting that does not exist
sessmgr({ settings: { maxinum: 2 } })
// @ts-expect-error the maximum is a number
sessmgr({ settings: { maximum: '2' } })
// @ts-expect-error the logic is a string
sessmgr({ settings: { logic: 1 } })
// @ts-expect-error the deadline is a number
sessmgr({ deadlineMs: '2s' })
// @ts-expect-error a logger has warn and error
sessmgr({ logger: { warn() {} } })
// @ts-expect-error a store is more than an empty object
sessmgr({ store: {} })
// @ts-expect-error a user id is a string or a number
sessmgr({ userId: () => ({ id: 1 }) })
// @ts-expect-error a user id is there
sessmgr({ userId: () => undefined })
// @ts-expect-error a strategy decides
sessmgr({ strategies: [{ id: 'x', label: 'X', desc: 'X.' }] })
// @ts-expect-error null is no way to leave an option out
sessmgr({ settings: null })

const firesNothingKnown: LimitStrategy = {
  ...strategy,
  // @ts-expect-error a strategy fires the actions that the limit knows
  decide: () => ({ admit: true, end: [], actions: [['sessmgr_made_up', 1]] }),
}
const forgetsToAdmit: LimitStrategy = {
  ...strategy,
  // @ts-expect-error a decision says whether the login is admitted
  decide: () => ({ end: [], actions: [] }),
}
void [firesNothingKnown, forgetsToAdmit]

// Actions.
const { hooks } = limiter
const off: () => void = hooks.addAction('sessmgr_destroy_session', 'app', (userId, token) => {
  yes<Equals<typeof userId, UserId>>()
  yes<Equals<typeof token, string>>()
})
hooks.addAction('sessmgr_logout_all_users', 'app', (epoch) => epoch.toFixed(), 5)
hooks.addAction('sessmgr_cli_init', 'app', async () => {})
hooks.addAction('sessmgr_session_ended', 'app', (session: SessionRecord, { kind, by }) => {
  // Kinds may be added, so a list of them needs a default.
  switch (kind) {
    case 'displaced':
      return by?.token
    case 'admin':
      return by?.actor
    default:
      return session.userId
  }
})
hooks.addAction('sessmgr_cli_init', 'app', (cli) =>
  cli.register('roles', {
    description: 'Roles.',
    commands: {
      list: {
        description: 'List roles.',
        arguments: ['<user>', '[role]'],
        options: { '--format <format>': 'the format' },
        changes: false,
        async run({ options, print, printRows, confirm, failure }, user, role?: string) {
          yes<Equals<typeof user, string>>()
          yes<Equals<typeof options.format, string | true | undefined>>()
          await confirm('Sure?')
          print(role ?? user)
          printRows([{ user, count: 1 }], ['user'])
          throw failure('No such role.', 2)
        },
      },
    },
  }),
)
hooks.addAction('sessmgr_login_blocked', 'app', () => 'whatever an action returns is ignored')
hooks.addAction('lazycomments_init', 'app', (core) => yes<Equals<typeof core, unknown>>())
yes<Equals<ReturnType<typeof hooks.doAction>, Promise<void>>>()
yes<Equals<ReturnType<typeof hooks.removeAction>, number>>()
void [off, hooks.doAction('sessmgr_destroy_session', 1, tokenOf('x')), hooks.doAction('lazycomments_activated')]

// @ts-expect-error an action that does not exist
hooks.addAction('sessmgr_login_block', 'app', () => {})
// @ts-expect-error a filter is no action
hooks.addAction('sessmgr_bypass', 'app', () => {})
// @ts-expect-error the namespace comes second
hooks.addAction('sessmgr_cli_init', () => {})
// @ts-expect-error more parameters than the action has
hooks.addAction('sessmgr_login_blocked', 'app', (_userId, _token: string) => {})
// @ts-expect-error the epoch is a number
hooks.addAction('sessmgr_logout_all_users', 'app', (epoch: string) => epoch)
// @ts-expect-error the priority is a number
hooks.addAction('sessmgr_cli_init', 'app', () => {}, '10')
// @ts-expect-error the token is missing
void hooks.doAction('sessmgr_destroy_session', 1)
// @ts-expect-error one parameter too many
void hooks.doAction('lazycomments_activated', 1)
// @ts-expect-error a user id is a string or a number
void hooks.doAction('sessmgr_login_blocked', { id: 1 })
// @ts-expect-error an action that does not exist
hooks.hasAction('made_up')

// Filters.
hooks.addFilter('sessmgr_bypass', 'app', (bypass, userId) => bypass || userId === 'root')
hooks.addFilter('sessmgr_bypass', 'app', async (bypass) => bypass)
hooks.addFilter('sessmgr_reached_limit', 'app', (reached, _userId, count) => reached && count > 3, 20)
hooks.addFilter('sessmgr_error_message', 'app', () => 'No more devices.')
hooks.addFilter('sessmgr_logics', 'app', (logics) => ({ ...logics, mine: { label: 'Mine', desc: 'My own.' } }))
hooks.addFilter('auth_cookie_expiration', 'app', (seconds, _userId, remember) => (remember ? seconds * 2 : seconds))
hooks.addFilter('lazycomments_rendered_html', 'app', (html, post) => (post ? html : ''))
const bypassed: Promise<boolean> = hooks.applyFilters('sessmgr_bypass', false, 1)
const logics: Promise<LogicCatalogue> = hooks.applyFilters('sessmgr_logics', {})
void [bypassed, logics]

yes<Equals<ReturnType<Sessmgr['sessionLife']>, Promise<number>>>()

// @ts-expect-error a filter that does not exist
hooks.addFilter('sessmgr_bypas', 'app', (value) => value)
// @ts-expect-error an action is no filter
hooks.addFilter('sessmgr_cli_init', 'app', (value) => value)
// @ts-expect-error a bypass is true or false
hooks.addFilter('sessmgr_bypass', 'app', () => 'yes')
// @ts-expect-error a filter returns the value
hooks.addFilter('sessmgr_bypass', 'app', () => {})
// @ts-expect-error a filter returns the value, asynchronous too
hooks.addFilter('sessmgr_error_message', 'app', async () => {})
// @ts-expect-error a promise of the wrong type
hooks.addFilter('sessmgr_error_message', 'app', async () => 1)
// @ts-expect-error the count is a number
hooks.addFilter('sessmgr_reached_limit', 'app', (reached, _userId, count: string) => reached && count === '3')
// @ts-expect-error a mode has a description
hooks.addFilter('sessmgr_logics', 'app', (logics) => ({ ...logics, mine: { label: 'Mine' } }))
hooks.addFilter('sessmgr_logics', 'app', (logics) => {
  // @ts-expect-error the catalogue of the modes is not to be changed in place
  logics.mine = { label: 'Mine', desc: 'My own.' }
  return logics
})
// @ts-expect-error the user is missing
void hooks.applyFilters('sessmgr_bypass', false)
// @ts-expect-error the value is true or false
void hooks.applyFilters('sessmgr_bypass', 'no', 1)

// Sessions and settings.
void limiter.sessions.end(1, tokenOf('x')).then((ended: boolean) => ended)
void limiter.sessions.end(1, tokenOf('x'), { by: 'user', device: 'Chrome on Windows', note: 'Bye.' })
// @ts-expect-error: who is not known
void limiter.sessions.endAll(1, { by: 'root' })
void limiter.sessions.endAll('u').then((count: number) => count)
void limiter.sessions.endOthers('u', tokenOf('x')).then((count: number) => count)
void limiter.settings.update({ maximum: '3' }).then((settings) => settings.maximum.toFixed())
// @ts-expect-error a setting that does not exist
void limiter.settings.update({ maxinum: 3 })
// @ts-expect-error ending one session takes its token
void limiter.sessions.end(1)
void limiter.settings.get().then((settings) => {
  // @ts-expect-error the settings are not to be changed in place
  settings.maximum = 3
})
void limiter.sessions.list(1).then((records) => {
  // @ts-expect-error the list is not to be changed in place
  records.pop()
  // @ts-expect-error nor is a record
  for (const record of records) record.ip = ''
})
// @ts-expect-error a record holds no raw session id
void limiter.sessions.list(1).then(([record]) => record?.sessionId)

// Errors.
const error = new SessmgrError('login_limit_reached', 'Full.', { cause: 1 })
const code: SessmgrErrorCode = error.code
void code
// @ts-expect-error a code that does not exist
new SessmgrError('made_up', 'Full.')
// @ts-expect-error no error ever has this code
void (error.code === 'made_up')

// The catalogue, as data.
yes<Equals<(typeof hookCatalogue.actions.sessmgr_init)['summary'], string>>()
// @ts-expect-error a hook that does not exist
void hookCatalogue.actions.made_up

// The contract suite takes vitest as it is, and a clock that is told what time it is.
const clock: FakeClock = fakeClock(0)
signIn(agent('http://localhost'), { username: 'alice' }, { path: '/session', type: 'json' }).then(({ text }) => text)
// @ts-expect-error There is no such type of body.
signIn(agent('http://localhost'), {}, { type: 'xml' })
memoryStore({ clock })
// @ts-expect-error the suite needs a driver to test
registerDocumentDriverContract({ describe, it })
