import { EventEmitter } from 'node:events'
import { MemoryStore } from 'express-session'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { resolveOptions } from '../../../src/service/resolve-options.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { block } from '../../../src/strategies/block.ts'
import { optionsRefusal as refusal } from '../../support/options-refusal.ts'

const byRole = { ...block, id: 'by_role' }
const LONG = 'x'.repeat(32)
const labelOf = () => 'staff'
const find = async () => undefined
const users = { findById: find, findByEmail: find, findByLogin: find, summary: () => ({}) }
const can = () => true
const attempts = { allow: can, failed() {} }
const hostWith = (more: object) => ({ host: { users, can, ...more } })

/** Expects each of these options to be refused with this message. */
function refused(message: string | RegExp, ...all: readonly unknown[]): void {
  for (const options of all) {
    const what = JSON.stringify(options)
    expect(refusal(options), what).toMatchObject({ code: 'invalid_option', message: expect.stringMatching(message) })
  }
}

/** Options that each have one of these values under one name. */
const each = (name: string, ...values: unknown[]) => values.map((value) => ({ [name]: value }))

describe('options', () => {
  it('have defaults that need nothing', () => {
    const { store, logger, ...others } = resolveOptions()
    expect(store.name).toBe('memory')
    expect(others).toMatchObject({
      settings: {},
      sessionStore: undefined,
      strategies: [],
      labels: undefined,
      deadlineMs: 2000,
      touchEveryMs: 60_000,
      device: false,
      deviceName: 'sessmgr_device',
      nonceHeader: 'X-HOST-Nonce',
    })
    const line = vi.spyOn(console, 'warn').mockReturnValue()
    logger.warn('a')
    expect(line).toHaveBeenCalledExactlyOnceWith('[sessmgr] a')
    line.mockRestore()
  })

  it('are taken over as they are, up to their bounds', () => {
    const logger = { warn: vi.fn(), error: vi.fn() }
    const given = {
      store: memoryStore(),
      sessionStore: new MemoryStore(),
      settings: { maximum: 3, logic: 'block' },
      strategies: [byRole],
      nonceHeader: 'X-WP-Nonce',
      device: true,
    }
    const resolved = resolveOptions({ ...given, logger, secret: [LONG, `${LONG}y`] })
    expect(resolved).toMatchObject({ settings: given.settings, secrets: [LONG, `${LONG}y`], device: true })
    for (const name of ['store', 'sessionStore'] as const) expect(resolved[name]).toBe(given[name])
    expect([resolved.strategies, resolved.nonceHeader]).toEqual([[byRole], 'X-WP-Nonce'])
    resolved.logger.error('a', { b: 1 })
    expect(logger.error).toHaveBeenCalledExactlyOnceWith('a', { b: 1 })
    expect(resolveOptions({ secret: LONG }).secrets).toEqual([LONG])
    const least = { deadlineMs: 1, touchEvery: 0, sessionCacheSize: 100 }
    const most = { deadlineMs: 60_000, touchEvery: 3_600_000, sessionCacheSize: 1_000_000 }
    for (const { touchEvery, ...rest } of [least, most]) {
      expect(resolveOptions({ touchEvery, ...rest })).toMatchObject({ touchEveryMs: touchEvery, ...rest })
    }
    for (const securityUrl of ['/account', 'https://id.example/security']) {
      expect(resolveOptions({ securityUrl }).securityUrl).toBe(securityUrl)
    }
    const name = 'my.app-device_2'
    expect(resolveOptions({ device: false, deviceCookie: { name } })).toMatchObject({ device: false, deviceName: name })
  })

  it('are refused by their name, with the one that was probably meant', () => {
    refused('^There is no option "sesionStore". Did you mean "sessionStore"\\?$', { sesionStore: {} })
    refused('^There is no option "maximum". Did you mean "settings.maximum"\\?$', { maximum: 3 })
    for (const [word, name] of [
      ['max', 'maximum'],
      ['limit', 'maximum'],
      ['strategy', 'logic'],
      ['idleTimeout', 'idle_release'],
      ['reportOnly', 'enforce'],
    ] as const) {
      refused(`Did you mean "settings.${name}"`, { [word]: 3 })
      refused(`Did you mean "${name}"`, { settings: { [word]: 3 } })
    }
    const request = Object.assign(new EventEmitter(), { method: 'GET', url: '/', headers: {} })
    refused('^Write sessmgr\\(\\), with parentheses', request)
    refused('options of sessmgr\\(\\) must be an object', null, 'text', [], () => {})
  })

  it('are refused where they are no value of their kind', () => {
    const cookie = (name: unknown) => ({ device: true, deviceCookie: { name } })
    refused('"settings" must be an object', ...each('settings', null, 'text'))
    refused('"sessionStore" must be the express-session store', ...each('sessionStore', null, {}))
    refused('a session store belongs in "sessionStore"', { store: new MemoryStore() })
    const half = { ...memoryStore(), sessions: undefined }
    refused('"store" must be a store from memoryStore\\(\\)', ...each('store', null, {}, 'redis://localhost', half))
    refused('"deadlineMs" must be a whole number from 1 to 60000', ...each('deadlineMs', 0, 60_001, 1.5, '2000', null))
    refused('"sessionCacheSize" must be a whole number from 100 to 1000000', ...each('sessionCacheSize', 99, 1_000_001))
    refused('"touchEvery" must be a whole number from 0 to 3600000', ...each('touchEvery', -1, 3_600_001))
    refused('"device" must be true or false; got ', ...each('device', 'true', 1, null))
    refused('"deviceCookie.name" must be a cookie name', ...['', 'a=b', '__Host-device', '\u00fc', null].map(cookie))
    refused('"deviceCookie" must be an object', { device: true, deviceCookie: 'name' })
    refused('^"deviceCookie" has no key "nam"', { device: true, deviceCookie: { nam: 'a' } })
    refused('no effect without device: true', { deviceCookie: { name: 'a' } })
    refused('"logger" must have the methods warn and error', ...each('logger', null, { warn() {} }, { error() {} }))
    const page = '"securityUrl" must be a path such as "/account"'
    refused(page, ...each('securityUrl', '', 'account', '//evil.example', 'javascript:alert(1)', null))
    refused('"nonceHeader" must be a header name', ...each('nonceHeader', '', 'X Nonce', 'X-Nonce:', 'X\n', null))
    refused('"userId" must be a function such as \\(user\\)', { userId: 'id' })
    refused('"sessionUser" must be a function such as', { sessionUser: null })
    const texts = ['id', 'label', 'desc'].flatMap((key) =>
      [undefined, '', 5].map((text) => ({ ...byRole, [key]: text })),
    )
    const lists = [null, byRole, [null], [byRole, 'block'], ...texts.map((strategy) => [strategy])]
    refused('"strategies" must be an array of limit strategies', ...each('strategies', ...lists))
  })

  it('are refused without telling a secret that is too short to be one', () => {
    const secrets = each('secret', 'hunter2', '', [], ['hunter2'], [LONG, 5], null, 5)
    refused('"secret" must be a string of at least 32 characters', ...secrets)
    for (const given of secrets) expect(refusal(given).message).not.toContain('hunter2')
  })
})

it('settings in the code are refused as those that are stored', () => {
  const settings = (name: string, ...values: unknown[]) => each('settings', ...each(name, ...values))
  refused('"settings.maximum" must be a whole number', ...settings('maximum', 0, 1.5, '2', null, Number.NaN))
  refused('"settings.maximum" must be at most 9007199254740991', ...settings('maximum', 2 ** 53))
  const modes = 'logout_oldest, logout_idlest, allow, block, ask'
  const unknown = settings('logic', 'logout-oldest')
  refused(`^"settings.logic" must be one of ${modes}; got logout-oldest. Did you mean`, ...unknown)
  refused('"settings.logic" must be one of', ...settings('logic', '', null))
  const idle = '^"settings.idle_release" must be 0, or 300 seconds or more, because .*; got '
  refused(idle, ...settings('idle_release', -1, 299, 300.5, '900', null))
  refused('^"settings.enforce" must be true or false; got ', ...settings('enforce', 'false', 0, null))
})

it('limits of labels are taken as they were given, and refused where they have no effect', () => {
  const labels = (options: object) => resolveOptions({ ...options, deadlineMs: 50 }).labels
  const limits: Record<string, number> = { desktop: 1, mobile: 2 }
  const checked = labels({ limits })
  limits.desktop = 9
  expect(checked).toEqual({ limits: { desktop: 1, mobile: 2 }, deadlineMs: 50 })
  expect(labels({ limits: { staff: 3 }, labelOf })).toEqual({ limits: { staff: 3 }, labelOf, deadlineMs: 50 })
  refused('"limits" must be an object', ...each('limits', 1, [1]))
  const meant = '"limits.mobil" has no effect: .* desktop and mobile. Did you mean "mobile"'
  refused(meant, { limits: { mobil: 1 } })
  refused('"limits.desktop" must be a whole number, 1 or more; got 0', { limits: { desktop: 0 } })
  refused('"limits.staff" must be a whole number, 1 or more; got the string', { limits: { staff: '2' }, labelOf })
  refused('"labelOf" must be a function such as ', { limits: {}, labelOf: 'desktop' })
  refused('"labelOf" has no effect without "limits"', { labelOf })
})

it('a host has to find users, tell what they may do, and hold both halves of its rate limiter', () => {
  expect(resolveOptions(hostWith({}) as never).host?.attempts).toBeUndefined()
  expect(resolveOptions(hostWith({ attempts }) as never).host?.attempts).toBeDefined()
  for (const method of Object.keys(users)) {
    const host = { users: { ...users, [method]: undefined }, can }
    refused(`"host.users.${method}" must be a function`, { host })
  }
  refused('"host.can" must be a function', { host: { users } })
  refused(
    '^"host" must have users .*: sessmgr\\(\\{ host: \\{ users, can \\} \\}\\).$',
    ...each('host', null, {}, 'host'),
  )
  refused(
    'users, can .* createLazyComments\\(\\) from sessmgr/comments.$',
    ...each('host', { posts: {} }, { theme: {} }),
  )
  const missing = (method: string) => `^"host.attempts.${method}" must be a function: .* both allow and failed`
  const wrong = [{ failed: attempts.failed }, {}, null, { ...attempts, allow: true }]
  refused(missing('allow'), ...wrong.map((each) => hostWith({ attempts: each })))
  for (const each of [{ allow: can }, { ...attempts, failed: 5 }])
    refused(missing('failed'), hostWith({ attempts: each }))
})

it('a call that is about a request rejects without one, and says what to write', async () => {
  const limiter = sessmgr()
  onTestFinished(() => limiter.close())
  for (const request of [undefined, 'text'] as never[]) {
    for (const [call, made] of [
      ['limiter.login(request, user)', limiter.login(request, { id: 2 })],
      ['limiter.logout(request)', limiter.logout(request)],
      ['limiter.nonce(request)', limiter.nonce(request)],
    ] as const) {
      const error = { code: 'invalid_option', status: 500, message: expect.stringContaining(`: write ${call}`) }
      await expect(made).rejects.toMatchObject(error)
    }
  }
})
