import { createRequire } from 'node:module'
import fastifyPassport from '@fastify/passport'
import { Passport, Strategy } from 'passport'
import { describe, expect, it } from 'vitest'
import { isOfPassport } from '../../../src/middleware/refusal.ts'

const require = createRequire(import.meta.url)
const versionOf = (name: string): string => require(`${name}/package.json`).version

/** Signs everybody in. */
class Yes extends Strategy {
  override name = 'yes'
  override authenticate() {
    this.success(Object({ id: 1 }))
  }
}

/** Returns the options that passport.authenticate passes to `req.logIn`. */
function optionsOfExpress(options: object | undefined): object {
  let passed: unknown
  const logIn = (_user: unknown, given: unknown) => {
    passed = given
  }
  new Passport().use(new Yes()).authenticate('yes', options as object)({ logIn }, {}, () => {})
  return passed as object
}

/** Returns the options that @fastify/passport passes to `request.logIn`. */
function optionsOfFastify(options: object | undefined): object {
  let passed: unknown
  const logIn = (_user: unknown, given: unknown) => {
    passed = given
    return new Promise(() => {})
  }
  const authenticator = new fastifyPassport.Authenticator().use(Object(new Yes()))
  const request = { passport: authenticator, log: { debug() {}, trace() {} }, logIn }
  void Reflect.apply(authenticator.authenticate('yes', options), Object({}), [request, {}])
  return passed as object
}

describe('a login that Passport itself asks for', () => {
  it('was looked at in these versions: look again before another one goes in here', () => {
    expect(versionOf('passport')).toMatch(/^0\.7\./)
    expect(versionOf('koa-passport')).toMatch(/^6\./)
    expect(versionOf('@fastify/passport')).toMatch(/^4\./)
  })

  it('is known by its options; the options that an application may pass, too, are its own', () => {
    const both = (options: object | undefined) => [
      isOfPassport(optionsOfExpress(options)),
      isOfPassport(optionsOfFastify(options)),
    ]
    const redirects = { successRedirect: '/', keepSessionInfo: true }
    for (const options of [undefined, {}, { failureRedirect: '/login' }, redirects]) {
      expect(both(options), JSON.stringify(options)).toEqual([true, true])
    }
    for (const options of [{ keepSessionInfo: true }, { session: true }, { session: true, keepSessionInfo: false }]) {
      expect(both(options), JSON.stringify(options)).toEqual([false, false])
    }
  })
})
