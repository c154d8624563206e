import { createRequire } from 'node:module'
import fastifyPassport from '@fastify/passport'
import { Passport, Strategy } from 'passport'
import { describe, expect, it } from 'vitest'
import { isPassportsCallback, isPassportsReject } from '../../../src/middleware/login.ts'

const require = createRequire(import.meta.url)
const versionOf = (name: string): string => require(`${name}/package.json`).version

/** Signs everybody in. */
class Yes extends Strategy {
  override name = 'yes'
  override authenticate() {
    this.success(Object({ id: 1 }))
  }
}

/** What passport.authenticate calls `req.logIn` back with. */
function passportsCallback(options: object): (error?: unknown) => void {
  let callback: unknown
  const request = {
    logIn: (_user: unknown, _options: unknown, done: unknown) => {
      callback = done
    },
  }
  new Passport().use(new Yes()).authenticate('yes', options)(request, {}, () => {})
  return callback as () => void
}

/** What @fastify/passport hangs on the promise of `request.logIn`. */
function passportsHandler(): (error: unknown) => unknown {
  let handler: unknown
  const keep = (given: unknown) => {
    handler = given
    return new Promise(() => {})
  }
  const authenticator = new fastifyPassport.Authenticator().use(Object(new Yes()))
  const log = { debug() {}, trace() {} }
  const request = { passport: authenticator, log, logIn: () => ({ catch: keep }) }
  void Reflect.apply(authenticator.authenticate('yes'), Object({}), [request, {}])
  return handler as () => unknown
}

describe('the login that Passport itself asks for', () => {
  it('was looked at in these versions: look again before another one goes in here', () => {
    expect(versionOf('passport')).toMatch(/^0\.7\./)
    expect(versionOf('koa-passport')).toMatch(/^6\./)
    expect(versionOf('@fastify/passport')).toMatch(/^4\./)
  })

  it.each([{}, { failureRedirect: '/login' }, { keepSessionInfo: true }])(
    'is known by its callback, with %o',
    (options) => {
      expect(isPassportsCallback(passportsCallback(options))).toBe(true)
    },
  )

  it('is not taken for one of the application, whose callback must be called', () => {
    for (const own of [() => {}, (error?: unknown) => void error, console.error.bind(console), expect]) {
      expect(isPassportsCallback(own)).toBe(false)
    }
  })

  it('is known by its handler on Fastify', () => {
    expect(isPassportsReject(passportsHandler())).toBe(true)
  })

  it('is not taken for one of the application on Fastify, whose handler must be called', () => {
    const own = (error: unknown) => error
    for (const handler of [
      own,
      own.bind(undefined),
      (
        () => (error: unknown) =>
          error
      )(),
      console.error,
    ]) {
      expect(isPassportsReject(handler)).toBe(false)
    }
  })
})
