import { EventEmitter } from 'node:events'
import { MemoryStore } from 'express-session'
import { describe, expect, it, vi } from 'vitest'
import { resolveOptions } from '../../../src/service/resolve-options.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { block } from '../../../src/strategies/block.ts'
import { optionsRefusal as refusal } from '../../support/options-refusal.ts'

const byRole = { ...block, id: 'by_role' }
const invalid = (message: string | RegExp) => ({ code: 'invalid_option', message: expect.stringMatching(message) })

describe('the defaults', () => {
  it('need nothing', () => {
    const { store, settings, sessionStore, strategies, logger, ...milliseconds } = resolveOptions()
    expect(store.name).toBe('memory')
    expect(settings).toEqual({})
    expect(sessionStore).toBeUndefined()
    expect(strategies).toEqual([])
    expect(milliseconds).toMatchObject({ deadlineMs: 2000, touchEveryMs: 60_000 })
    const line = vi.spyOn(console, 'warn').mockReturnValue()
    logger.warn('a')
    expect(line).toHaveBeenCalledExactlyOnceWith('[sessmgr] a')
    line.mockRestore()
  })
})

describe('valid options', () => {
  it('are taken over as they are', () => {
    const store = memoryStore()
    const sessionStore = new MemoryStore()
    const logger = { warn: vi.fn(), error: vi.fn() }
    const settings = { maximum: 3, logic: 'block' }
    const resolved = resolveOptions({ store, sessionStore, logger, settings, strategies: [byRole], deadlineMs: 50 })
    expect(resolved).toMatchObject({ settings, deadlineMs: 50 })
    expect(resolved.store).toBe(store)
    expect(resolved.sessionStore).toBe(sessionStore)
    resolved.logger.error('a', { b: 1 })
    expect(logger.error).toHaveBeenCalledExactlyOnceWith('a', { b: 1 })
    expect(resolved.strategies).toEqual([byRole])
  })

  it.each([1, 60_000])('may give the deadline %d ms', (deadlineMs) => {
    expect(resolveOptions({ deadlineMs }).deadlineMs).toBe(deadlineMs)
  })

  it.each([0, 3_600_000])('may note the use of a session every %d ms', (touchEvery) => {
    expect(resolveOptions({ touchEvery }).touchEveryMs).toBe(touchEvery)
  })

  it.each([100, 1_000_000])('may let a process remember %d sessions', (sessionCacheSize) => {
    expect(resolveOptions({ sessionCacheSize }).sessionCacheSize).toBe(sessionCacheSize)
  })
})

describe('invalid options', () => {
  it('throw for an unknown name, with the one that was probably meant', () => {
    expect(refusal({ sesionStore: {} })).toMatchObject(
      invalid('^There is no option "sesionStore". Did you mean "sessionStore"\\?$'),
    )
    expect(refusal({ deadlineMS: 5 })).toMatchObject(invalid('Did you mean "deadlineMs"'))
    expect(refusal({ settings: { maxinum: 2 } })).toMatchObject(
      invalid('^There is no option "settings.maxinum". Did you mean "maximum"\\?$'),
    )
  })

  it('throw for a setting that was not put into the settings, and say where it belongs', () => {
    expect(refusal({ maximum: 2 })).toMatchObject(
      invalid('^There is no option "maximum". Did you mean "settings.maximum"\\?$'),
    )
    expect(refusal({ logic: 'block' })).toMatchObject(invalid('Did you mean "settings.logic"'))
    for (const [word, name] of [
      ['max', 'maximum'],
      ['limit', 'maximum'],
      ['mode', 'logic'],
      ['strategy', 'logic'],
      ['onLimit', 'logic'],
      ['idleTimeout', 'idle_release'],
      ['reportOnly', 'enforce'],
    ] as const) {
      expect(refusal({ [word]: 3 })).toMatchObject(invalid(`Did you mean "settings.${name}"`))
      expect(refusal({ settings: { [word]: 3 } })).toMatchObject(invalid(`Did you mean "${name}"`))
    }
  })

  it('throw for a request: sessmgr was mounted in place of what it returns', () => {
    const request = Object.assign(new EventEmitter(), { method: 'GET', url: '/', headers: {} })
    expect(refusal(request)).toMatchObject(invalid('^Write sessmgr\\(\\), with parentheses'))
  })

  it.each([null, 'text', 5, [], () => {}])('throw for %j in place of the options', (options) => {
    expect(refusal(options)).toMatchObject(invalid('options of sessmgr\\(\\) must be an object'))
  })

  it.each([null, 'text', 5])('throw for the settings %j', (settings) => {
    expect(refusal({ settings })).toMatchObject(invalid('"settings" must be an object'))
  })

  it.each([0, -1, 1.5, '2', null, Number.NaN, Number.POSITIVE_INFINITY])('throw for the maximum %j', (maximum) => {
    expect(refusal({ settings: { maximum } })).toMatchObject(invalid('"settings.maximum" must be a whole number'))
  })

  it('throw for a maximum that is too large to be exact, and name the largest', () => {
    const largest = invalid('"settings.maximum" must be at most 9007199254740991')
    expect(refusal({ settings: { maximum: 2 ** 53 } })).toMatchObject(largest)
  })

  it('throw for an unknown logic, with the known ones and the nearest', () => {
    const modes = 'logout_oldest, logout_idlest, allow, block, ask'
    const sentence = `^"settings.logic" must be one of ${modes}; got logout-oldest. Did you mean`
    expect(refusal({ settings: { logic: 'logout-oldest' } })).toMatchObject(invalid(sentence))
    for (const logic of ['', null, 5]) {
      expect(refusal({ settings: { logic } })).toMatchObject(invalid('"settings.logic" must be one of'))
    }
  })

  it.each([-1, 1, 299, 300.5, '900', null, true, Number.NaN])('throw for the idle release %j', (idle_release) => {
    const sentence = '^"settings.idle_release" must be 0, or 300 seconds or more, because .*; got '
    expect(refusal({ settings: { idle_release } })).toMatchObject(invalid(sentence))
  })

  it.each(['false', 0, null, {}])('throw for %j in place of a switch', (enforce) => {
    const sentence = '^"settings.enforce" must be true or false; got '
    expect(refusal({ settings: { enforce } })).toMatchObject(invalid(sentence))
  })

  it('throw for a session store that is none', () => {
    for (const sessionStore of [null, {}, 'memory']) {
      expect(refusal({ sessionStore })).toMatchObject(invalid('"sessionStore" must be the express-session store'))
    }
  })

  it.each([0, -1, 1.5, 60_001, '2000', null, Number.NaN])('throw for the deadline %j', (deadlineMs) => {
    expect(refusal({ deadlineMs })).toMatchObject(invalid('"deadlineMs" must be a whole number from 1 to 60000'))
  })

  it.each([99, 1_000_001, 20_000.5, '20000', null])('throw for remembering %j sessions', (sessionCacheSize) => {
    const rule = '"sessionCacheSize" must be a whole number from 100 to 1000000'
    expect(refusal({ sessionCacheSize })).toMatchObject(invalid(rule))
  })

  it.each([-1, 1.5, 3_600_001, '60000', null, Number.NaN])('throw for noting use every %j ms', (touchEvery) => {
    expect(refusal({ touchEvery })).toMatchObject(invalid('"touchEvery" must be a whole number from 0 to 3600000'))
  })

  it('throw for a device that is neither true nor false', () => {
    expect(resolveOptions()).toMatchObject({ device: false, deviceName: 'sessmgr_device' })
    expect(resolveOptions({ device: true })).toMatchObject({ device: true, deviceName: 'sessmgr_device' })
    for (const device of ['true', 1, null, {}]) {
      expect(refusal({ device })).toMatchObject(invalid('"device" must be true or false; got '))
    }
  })

  it('throw for a device cookie that cannot be one', () => {
    const name = 'my.app-device_2'
    expect(resolveOptions({ device: true, deviceCookie: { name } })).toMatchObject({ deviceName: name })
    expect(resolveOptions({ device: false, deviceCookie: { name } })).toMatchObject({ device: false, deviceName: name })
    for (const wrong of ['', 'a b', 'a=b', 'a;b', '__Host-device', '__Secure-device', 'ü', null, 5]) {
      expect(refusal({ device: true, deviceCookie: { name: wrong } })).toMatchObject(
        invalid('"deviceCookie.name" must be a cookie name of letters, digits'),
      )
    }
    expect(refusal({ device: true, deviceCookie: 'name' })).toMatchObject(invalid('"deviceCookie" must be an object'))
    expect(refusal({ device: true, deviceCookie: { nam: 'a' } })).toMatchObject(
      invalid('^"deviceCookie" has no key "nam". Did you mean "name"'),
    )
    expect(refusal({ deviceCookie: { name } })).toMatchObject(invalid('no effect without device: true'))
  })

  it('throw for a logger without warn or error', () => {
    for (const logger of [null, {}, { warn() {} }, { error() {} }, console.log]) {
      expect(refusal({ logger })).toMatchObject(invalid('"logger" must have the methods warn and error'))
    }
  })

  it('throw for a secret that is too short to be one, and do not tell it', () => {
    const long = 'x'.repeat(32)
    expect(resolveOptions({ secret: long }).secrets).toEqual([long])
    expect(resolveOptions({ secret: [long, `${long}y`] }).secrets).toEqual([long, `${long}y`])
    for (const secret of ['hunter2', '', [], ['hunter2'], [long, 5], null, 5, {}]) {
      const { code, message } = refusal({ secret })
      expect({ code, message }).toMatchObject(invalid('"secret" must be a string of at least 32 characters'))
      expect(message).not.toContain('hunter2')
    }
  })

  it('take the page to change a password as a path, or as an address of the web', () => {
    for (const securityUrl of ['/account', 'https://id.example/security']) {
      expect(resolveOptions({ securityUrl }).securityUrl).toBe(securityUrl)
    }
    for (const securityUrl of ['', 'account', '//evil.example', 'javascript:alert(1)', null, 5]) {
      expect(refusal({ securityUrl })).toMatchObject(invalid('"securityUrl" must be a path such as "/account"'))
    }
  })

  it('throw for a nonce header that cannot be one', () => {
    expect(resolveOptions().nonceHeader).toBe('X-HOST-Nonce')
    expect(resolveOptions({ nonceHeader: 'X-WP-Nonce' }).nonceHeader).toBe('X-WP-Nonce')
    for (const nonceHeader of ['', 'X Nonce', 'X-Nonce:', 'X\n', null, 5]) {
      expect(refusal({ nonceHeader })).toMatchObject(invalid('"nonceHeader" must be a header name'))
    }
  })

  it('throw for a user id reader that is no function', () => {
    expect(refusal({ userId: 'id' })).toMatchObject(invalid('"userId" must be a function such as \\(user\\)'))
    expect(refusal({ sessionUser: null })).toMatchObject(invalid('"sessionUser" must be a function such as'))
  })

  it('throw for strategies that are no list of strategies', () => {
    for (const strategies of [null, {}, byRole, [null], [{}], [byRole, 'block']]) {
      expect(refusal({ strategies })).toMatchObject(invalid('"strategies" must be an array of limit strategies'))
    }
  })

  it.each(['id', 'label', 'desc'])('throw for a strategy whose %s is missing or no text', (key) => {
    for (const value of [undefined, '', 5]) {
      const strategies = [{ ...byRole, [key]: value }]
      expect(refusal({ strategies })).toMatchObject(invalid('"strategies" must be an array of limit strategies'))
    }
  })
})
