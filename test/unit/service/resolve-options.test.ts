import { EventEmitter } from 'node:events'
import { MemoryStore } from 'express-session'
import { describe, expect, it, vi } from 'vitest'
import { resolveOptions, type SessmgrOptions } from '../../../src/service/resolve-options.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { block } from '../../../src/strategies/block.ts'
import { optionsRefusal as refusal } from '../../support/options-refusal.ts'

const byRole = { ...block, id: 'by_role' }
const invalid = (message: string | RegExp) => ({ code: 'invalid_option', message: expect.stringMatching(message) })

describe('the defaults', () => {
  it('need nothing', () => {
    const { store, settings, sessionStore, strategies, logger, ...milliseconds } = resolveOptions()
    expect(store.id).toMatch(/^memory:/)
    expect(settings).toEqual({})
    expect(sessionStore).toBeUndefined()
    expect(strategies).toEqual([])
    expect(milliseconds).toMatchObject({ deadlineMs: 2000, touchEveryMs: 60_000 })
    const line = vi.spyOn(console, 'warn').mockReturnValue()
    logger.warn('a')
    expect(line).toHaveBeenCalledExactlyOnceWith('[sessmgr] a')
    line.mockRestore()
  })

  it('give each application a memory of its own', () => {
    expect(resolveOptions().store.id).not.toBe(resolveOptions().store.id)
  })

  it('hold for every option that is undefined', () => {
    const options = {
      store: undefined,
      settings: undefined,
      sessionStore: undefined,
      userId: undefined,
      sessionUser: undefined,
      strategies: undefined,
      deadlineMs: undefined,
      touchEvery: undefined,
      host: undefined,
      secret: undefined,
      nonceHeader: undefined,
      restPath: undefined,
      licensing: undefined,
      site: undefined,
      texts: undefined,
      logger: undefined,
    } satisfies Record<keyof SessmgrOptions, undefined>
    const defaults = { settings: {}, strategies: [], deadlineMs: 2000, touchEveryMs: 60_000 }
    expect(resolveOptions(options)).toMatchObject(defaults)
    const settings = { maximum: undefined, logic: undefined }
    expect(resolveOptions({ settings }).settings).toEqual({})
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

  it('may name a logic of their own strategies', () => {
    expect(resolveOptions({ strategies: [byRole], settings: { logic: 'by_role' } }).settings.logic).toBe('by_role')
  })

  it('are not changed', () => {
    const options = Object.freeze({ settings: Object.freeze({ maximum: 2 }), strategies: Object.freeze([byRole]) })
    expect(resolveOptions(options).settings).toEqual({ maximum: 2 })
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

  it('throw for an unknown name without a guess when none is near, even if its value is undefined', () => {
    expect(refusal({ wholly: undefined })).toMatchObject(invalid('^There is no option "wholly".$'))
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
    ] as const) {
      expect(refusal({ [word]: 3 })).toMatchObject(invalid(`Did you mean "settings.${name}"`))
      expect(refusal({ settings: { [word]: 3 } })).toMatchObject(invalid(`Did you mean "${name}"`))
    }
  })

  it('throw for a request: sessmgr was mounted in place of what it returns', () => {
    const request = Object.assign(new EventEmitter(), { method: 'GET', url: '/', headers: {} })
    expect(refusal(request)).toMatchObject(invalid('^Write sessmgr\\(\\), with parentheses'))
  })

  it.each(['maximum', 'deadlineMs', 'touchEvery'])(
    'show a text as such, as an environment gives one for %s',
    (name) => {
      const options = name === 'maximum' ? { settings: { maximum: '2' } } : { [name]: '2' }
      expect(refusal(options)).toMatchObject(invalid("got the string '2'.$"))
    },
  )

  it.each([null, 'text', 5, [], () => {}])('throw for %j in place of the options', (options) => {
    expect(refusal(options)).toMatchObject(invalid('options of sessmgr\\(\\) must be an object'))
  })

  it.each([null, 'text', 5])('throw for the settings %j', (settings) => {
    expect(refusal({ settings })).toMatchObject(invalid('"settings" must be an object'))
  })

  it.each([0, -1, 1.5, '2', null, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    'throw for the maximum %j',
    (maximum) => {
      expect(refusal({ settings: { maximum } })).toMatchObject(invalid('"settings.maximum" must be a whole number'))
    },
  )

  it('throw for an unknown logic, with the known ones and the nearest', () => {
    const sentence = '^"settings.logic" must be one of allow, logout_oldest, block; got logout-oldest. Did you mean'
    expect(refusal({ settings: { logic: 'logout-oldest' } })).toMatchObject(invalid(sentence))
    for (const logic of ['', null, 5]) {
      expect(refusal({ settings: { logic } })).toMatchObject(invalid('"settings.logic" must be one of'))
    }
  })

  it('throw for a session store that is none', () => {
    for (const sessionStore of [null, {}, 'memory']) {
      expect(refusal({ sessionStore })).toMatchObject(invalid('"sessionStore" must be the store of express-session'))
    }
  })

  it.each([0, -1, 1.5, 60_001, '2000', null, Number.NaN])('throw for the deadline %j', (deadlineMs) => {
    expect(refusal({ deadlineMs })).toMatchObject(invalid('"deadlineMs" must be a whole number from 1 to 60000'))
  })

  it.each([-1, 1.5, 3_600_001, '60000', null, Number.NaN])('throw for noting use every %j ms', (touchEvery) => {
    expect(refusal({ touchEvery })).toMatchObject(invalid('"touchEvery" must be a whole number from 0 to 3600000'))
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

  it('throw for a nonce header that cannot be one', () => {
    expect(resolveOptions().nonceHeader).toBe('X-HOST-Nonce')
    expect(resolveOptions({ nonceHeader: 'X-WP-Nonce' }).nonceHeader).toBe('X-WP-Nonce')
    for (const nonceHeader of ['', 'X Nonce', 'X-Nonce:', 'X\n', null, 5]) {
      expect(refusal({ nonceHeader })).toMatchObject(invalid('"nonceHeader" must be the name of a header'))
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

describe('the id of a user', () => {
  it.each(['u1', 7, 0, -1, Number.MAX_SAFE_INTEGER])('is %j when that is in user.id', (id) => {
    expect(resolveOptions().userIdOf({ id })).toBe(id)
  })

  it('is what the option userId reads', () => {
    const { userIdOf } = resolveOptions({ userId: (user: { _id: number }) => `mongo-${user._id}` })
    expect(userIdOf({ _id: 5, id: 'other' })).toBe('mongo-5')
  })

  it('throws user_id_missing when there is none that can be used, and says what to do', () => {
    for (const user of [{}, { id: '' }, { id: 1.5 }, { id: null }, { id: {} }, { id: 2 ** 53 }]) {
      expect(() => resolveOptions().userIdOf(user), JSON.stringify(user)).toThrow(
        expect.objectContaining({ code: 'user_id_missing', message: expect.stringContaining('sessmgr({ userId:') }),
      )
    }
  })

  it('says that the user is missing, also to an application with its own userId', () => {
    for (const userId of [undefined, (user: { _id: string }) => user._id]) {
      for (const user of [undefined, null]) {
        expect(() => resolveOptions({ userId }).userIdOf(user)).toThrow(
          expect.objectContaining({
            code: 'user_id_missing',
            message: expect.stringContaining('login(request, user)'),
          }),
        )
      }
    }
  })

  it('says how to pass a user of whom only the id is at hand', () => {
    const { userIdOf } = resolveOptions()
    expect(() => userIdOf('alice')).toThrow("is a string, not an object. Pass an object with the id: { id: 'alice' }")
    expect(() => userIdOf(7)).toThrow('is a number, not an object. Pass an object with the id: { id: 7 }')
  })

  it('throws user_id_missing when the option userId reads nothing', () => {
    const { userIdOf } = resolveOptions({ userId: () => undefined as unknown as string })
    expect(() => userIdOf({ id: 1 })).toThrow(expect.objectContaining({ code: 'user_id_missing' }))
  })

  it('does not tell the user in the error', () => {
    const { userIdOf } = resolveOptions()
    expect(() => userIdOf({ id: { secret: 'hunter2' } })).toThrow(/its type is object\./)
    expect(() => userIdOf({ password: 'hunter2' })).not.toThrow(/hunter2/)
  })
})

describe('sessionUser', () => {
  it('that throws is told what it receives', () => {
    const { sessionUser } = resolveOptions({ sessionUser: (request) => request.session.userId })
    expect(() => sessionUser({ cookie: {} })).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining("It receives the session's data, not the request"),
        cause: expect.any(TypeError),
      }),
    )
  })
})

describe('the user of a session from before the service', () => {
  const silent = { warn() {}, error() {} }

  it.each([
    ['u1', 'u1'],
    [7, 7],
    [{ id: 7, name: 'x' }, 7],
    [{ id: 'u1' }, 'u1'],
  ])('is what Passport has serialised as %j', (user, expected) => {
    expect(resolveOptions({ logger: silent }).sessionUser({ passport: { user } })).toBe(expected)
  })

  it('rule 50: is warned of once when it has more than an id, and nobody has said what the id is', () => {
    const warnings: string[] = []
    const logger = { warn: (message: string) => void warnings.push(message), error() {} }
    const user = { id: 7, type: 'customer' }
    resolveOptions({ logger, userId: ({ id }) => id }).sessionUser({ passport: { user } })
    resolveOptions({ logger, sessionUser: () => 7 }).sessionUser({ passport: { user } })
    const { sessionUser } = resolveOptions({ logger })
    for (const serialised of [7, '7', { id: 7 }, undefined]) sessionUser({ passport: { user: serialised } })
    expect(warnings).toEqual([])
    for (let times = 0; times < 2; times++) sessionUser({ passport: { user } })
    expect(warnings).toEqual([expect.stringMatching(/^Passport serializes \{ id, type \}.*sessmgr\(\{ userId/)])
  })

  it('is unknown where Passport has serialised nothing that can be used', () => {
    const { sessionUser } = resolveOptions()
    for (const user of [undefined, null, '', 1.5, true, {}, { id: '' }, []]) {
      expect(sessionUser({ passport: { user } }), JSON.stringify(user)).toBeUndefined()
    }
    expect(sessionUser({})).toBeUndefined()
    expect(sessionUser({ passport: {} })).toBeUndefined()
  })

  it('is what the option sessionUser reads', () => {
    const { sessionUser } = resolveOptions({ sessionUser: (data) => data.uid as string })
    expect(sessionUser({ uid: 'u1', passport: { user: 'other' } })).toBe('u1')
    expect(sessionUser({ passport: { user: 'other' } })).toBeUndefined()
    expect(sessionUser({ uid: {} })).toBeUndefined()
  })
})
