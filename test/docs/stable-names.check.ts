import { existsSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { namesOfTheCode } from './names-of-the-code.ts'
import type { Names } from './public-api.ts'
import { brokenPromises, parseStableNames, printStableNames, STABLE_NAMES } from './stable-names-page.ts'

const promised = parseStableNames(existsSync(STABLE_NAMES) ? readFileSync(STABLE_NAMES, 'utf8') : '')
let current: Names
beforeAll(async () => {
  current = await namesOfTheCode()
}, 240_000)

describe('the stable names', () => {
  it.each([
    ['Filters', 'sessmgr_bypass(bypass, user_id)'],
    ['Site options', 'lazycomments_settings'],
    ['Values of logic', 'logout_oldest'],
    ['REST routes', 'DELETE /lazycomments/v1/cache'],
    ['REST parameters', 'POST /sessmgr/v1/sessions/destroy: user'],
    ['REST answers', 'GET /sessmgr/v1/addons: items[].license_key'],
    ['REST headers', 'X-HOST-Nonce'],
    ['REST error codes', '403 rest_cross_origin'],
    ['REST error codes', '502 provider_rejected'],
    ['REST error data', 'retryable'],
    ['Codes of SessmgrError', 'login_limit_reached'],
    ['Commands', 'sessions destroy --token <token>'],
    ['Options of every command', '--config <file>'],
    ['Formats of the command line', 'json'],
    ['Fields of the command line', 'sessions list: token'],
    ['Exit codes', '2 wrong usage'],
    ['Filters of the admin screen', 'sessmgr.admin.tabs(TabEntry[])'],
    ['Variables of window.sessmgr', 'restNonce'],
    ['Members of window.sessmgr', 'useOption'],
    ['Properties of NumberField', 'onChange'],
    ['Tabs of the admin screen', 'support'],
    ['Events of the comments script', 'lazycomments:loaded { count }'],
    ['Markup of the placeholder', '<lazy-comments>'],
    ['Exports of sessmgr', 'sessmgr'],
    ['Exports of sessmgr/explicit', 'explicitCalls'],
    ['Exports of sessmgr/fetch', 'errorResponse'],
    ['Exports of sessmgr/better-auth', 'sessionLimit'],
    ['Exports of sessmgr/jwt', 'tokenSessions'],
    ['Types of sessmgr/redis', 'RedisStoreOptions'],
    ['Members of SessmgrOptions', 'touchEvery'],
    ['Members of LicensingError', 'providerCode'],
    ['Members of Addons', 'isLicensed'],
    ['Members of BlockCache', 'flush_all'],
    ['Members of SessionRegistry', 'commit'],
    ['Members of LimitStrategy', 'decide'],
    ['Members of ExplicitCalls', 'check'],
    ['Details of LicensingProvider', 'activate: key'],
    ['Details of RedisStoreOptions', "durability: 'replica'"],
    ['Values of LicensingCode', 'license_expired'],
    ['Values of SignedOutReason', 'logout_all'],
  ])('are found in the code: %s has %s', (heading, name) => {
    expect(current.get(heading)).toContain(name)
  })

  it('are all still there', () => {
    expect(brokenPromises(current, promised).join('\n')).toBe('')
  })

  it('are all listed; `npx vitest run test/docs --update` adds the new ones', async () => {
    await expect(printStableNames(current, promised)).toMatchFileSnapshot(STABLE_NAMES)
  })

  it('that are gone stay on the page until somebody takes them out', () => {
    const before = new Map([['Commands', ['sessions list <user>', 'sessions peek <user>']]])
    const after = new Map([['Commands', ['sessions list <user>', 'sessions look <user>']]])
    expect(brokenPromises(after, before)).toEqual([
      expect.stringContaining('"Commands" promises `sessions peek <user>`'),
    ])
    expect([...parseStableNames(printStableNames(after, before))]).toEqual([
      ['Commands', ['sessions list <user>', 'sessions look <user>', 'sessions peek <user>']],
    ])
  })
})
