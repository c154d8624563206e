import { describe, expect, it } from 'vitest'
import { SCREEN_HOOKS } from '../../src/browser/admin/shell/screen-hooks.ts'
import type { CliContext } from '../../src/cli/cli-context.ts'
import { appPasswordsCommand } from '../../src/cli/commands/app-passwords-command.ts'
import { licenseCommand } from '../../src/cli/commands/license-command.ts'
import { sessionsCommand } from '../../src/cli/commands/sessions-command.ts'
import { settingsCommand } from '../../src/cli/commands/settings-command.ts'
import { uninstallCommand } from '../../src/cli/commands/store-commands.ts'
import { usersCommand } from '../../src/cli/commands/users-command.ts'
import { FORMATS } from '../../src/cli/output.ts'
import * as constants from '../../src/constants.ts'
import { SENTENCES } from '../../src/features/addons/licensing.ts'
import { scriptVars } from '../../src/features/admin/create-admin.ts'
import { tabsFor } from '../../src/features/admin/screen-tabs.ts'
import { COMMENT_DEFAULTS } from '../../src/features/comments/comment-settings.ts'
import { COMMENTS_OPTION } from '../../src/features/comments/lazy-comments.ts'
import { STATUS } from '../../src/ground/errors.ts'
import { consoleLogger } from '../../src/ground/logger.ts'
import { type HookEntry, hookCatalogue, sessmgr } from '../../src/index.ts'
import { SETTING_NAMES } from '../../src/options/setting-rules.ts'
import { resolveOptions } from '../../src/service/resolve-options.ts'
import { createTextsFor } from '../../src/texts/texts-for.ts'
import { declaredNames } from './declared-options.ts'
import { readRoutes } from './openapi.ts'
import { restErrors } from './rest-errors.ts'

const signatures = (hooks: Readonly<Record<string, HookEntry>>) =>
  Object.entries(hooks).map(([name, { parameters }]) => `${name}(${parameters.join()})`)

function commandNames(): string[] {
  const context = {} as CliContext
  const groups = [sessionsCommand, settingsCommand, appPasswordsCommand, licenseCommand, usersCommand, uninstallCommand]
  return groups
    .map((make) => make(context))
    .flatMap((group) => [group.name(), ...group.commands.map((command) => `${group.name()} ${command.name()}`)])
}

async function windowVariables(): Promise<string[]> {
  const { hooks, modes } = sessmgr()
  const reader = { base: '/admin', nonce: 'n', texts: createTextsFor(undefined, consoleLogger)() }
  return Object.keys(await scriptVars({ hooks, modes, restPath: '/api' }, reader))
}

type Names = readonly string[]

/**
 * The names that the specifications and the decisions completing them freeze, and what the code has of each kind. The
 * code may have more.
 */
const FROZEN: Readonly<Record<string, readonly [names: string, ofTheCode: () => Names | Promise<Names>]>> = {
  actions: [
    `sessmgr_init(core), sessmgr_login_blocked(user_id), sessmgr_destroy_all_sessions(user_id),
    sessmgr_destroy_oldest_session(user_id), sessmgr_destroy_session(user_id,token), sessmgr_logout_all_users(epoch),
    sessmgr_session_invalidated(user_id,token), sessmgr_session_started(session,how), sessmgr_cli_init(cli),
    lazycomments_init(core), lazycomments_activated(), lazycomments_deactivated()`,
    () => signatures(hookCatalogue.actions),
  ],
  filters: [
    `sessmgr_settings_defaults(defaults), sessmgr_logics(logics), sessmgr_admin_script_vars(vars),
    sessmgr_register_addon(addons), sessmgr_addons_catalog(items,raw), sessmgr_reached_limit(reached,user_id,count),
    sessmgr_bypass(bypass,user_id), sessmgr_maximum(maximum,user_id), sessmgr_error_message(message),
    auth_cookie_expiration(seconds,user_id,remember), pre_update_option_{name}(value,old_value,requested),
    lazycomments_can_lazy_load(can), lazycomments_rendered_html(html,post), lazycomments_default_settings(defaults),
    lazycomments_capability(capability), lazycomments_has_access(has_access)`,
    () => signatures(hookCatalogue.filters),
  ],
  'filters of the admin screen': [
    'sessmgr.admin.tabs, sessmgr.settings.panels, sessmgr.settings.force_logout.cross_sell',
    () => SCREEN_HOOKS.filters,
  ],
  'tabs of the admin screen': [
    'settings, addons, support',
    () => tabsFor({ only: undefined, hasComments: true, hasAddons: true, hasActivity: true }).map(({ key }) => key),
  ],
  'variables of window.sessmgr': ['version, slug, name, page, restUrl, restNonce, adminUrl, logics', windowVariables],
  constants: ['VERSION, SLUG, TEXT_DOMAIN, OPTION_KEY, REST_NAMESPACE, LICENSING_ID', () => Object.keys(constants)],
  'option names': ['sessmgr_settings, lazycomments_settings', () => [constants.OPTION_KEY, COMMENTS_OPTION]],
  settings: ['maximum, logic, idle_release, max_age, enforce', () => SETTING_NAMES],
  modes: [
    'allow, logout_oldest, logout_idlest, block, ask',
    async () => Object.keys(await sessmgr().modes.catalogue()),
  ],
  'settings of the lazy comments': [
    `load_method, button_text, button_style, button_class, show_loader, minimum_count, disable_for_bots, cache_enabled`,
    () => Object.keys(COMMENT_DEFAULTS),
  ],
  options: [
    'audit, deadlineMs, host, labelOf, limits, sessionUser, settings, store, texts, touchEvery, userId',
    () => declaredNames('src/service/resolve-options.ts', 'SessmgrOptions'),
  ],
  'members of the limiter': [
    'account, choice, comments, eraseUser, hooks, notice, sessionLife, sessions, settings, uninstall',
    () => declaredNames('src/service/service.ts', 'Sessmgr'),
  ],
  routes: [
    `GET /sessmgr/v1/settings, POST /sessmgr/v1/settings, PUT /sessmgr/v1/settings, PATCH /sessmgr/v1/settings,
    DELETE /sessmgr/v1/settings/{key}, POST /sessmgr/v1/sessions/destroy, POST /sessmgr/v1/sessions/destroy-all,
    GET /sessmgr/v1/addons, POST /sessmgr/v1/addons/refresh, POST /sessmgr/v1/addons/{id}/license,
    DELETE /sessmgr/v1/addons/{id}/license, GET /sessmgr/v1/me/notice, GET /wp/v2/settings, POST /wp/v2/settings,
    GET /lazycomments/v1/comments, DELETE /lazycomments/v1/cache`,
    async () => (await readRoutes()).map(({ method, path }) => `${method} ${path}`),
  ],
  'nonce header': ['X-HOST-Nonce', () => [resolveOptions().nonceHeader]],
  'error codes': [
    'login_limit_reached, login_choice_required, session_ended, store_unavailable',
    () => Object.keys(STATUS),
  ],
  'REST error codes': [
    `400 missing_identifier, 400 rest_invalid_json, 400 rest_invalid_param, 401 rest_forbidden, 403 rest_forbidden,
    403 rest_cookie_invalid_nonce, 404 rest_no_route, 404 user_not_found, 409 ambiguous_identifier`,
    restErrors,
  ],
  'error codes of add-ons': [
    'empty_activation_key, not_premium, addon_not_initialized, invalid_activation_data, provider_unavailable',
    () => Object.keys(SENTENCES),
  ],
  commands: [
    `sessions list, sessions count, sessions destroy, sessions destroy-all, settings list, settings get, settings set,
    settings reset, app-passwords create, app-passwords list, app-passwords revoke, license issue, license inspect,
    users erase, uninstall`,
    commandNames,
  ],
  'formats of the command line': ['table, json, csv, ids', () => FORMATS],
}

describe('the names that the specifications and decisions freeze', () => {
  it.each(Object.entries(FROZEN))('%s', async (_kind, [names, ofTheCode]) => {
    const present = await ofTheCode()
    expect(names.split(/,\s+/).filter((name) => !present.includes(name))).toEqual([])
  })
})
