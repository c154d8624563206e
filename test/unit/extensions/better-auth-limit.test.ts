import { betterAuth } from 'better-auth'
import { nextCookies } from 'better-auth/next-js'
import { anonymous, bearer, jwt, multiSession } from 'better-auth/plugins'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sessionLimit } from '../../../src/better-auth.ts'
import { sessmgr } from '../../../src/index.ts'
import { startAuth } from '../../support/better-auth-lab.ts'

function limited() {
  const limiter = sessmgr({ logger: { warn() {}, error() {} } })
  onTestFinished(() => limiter.close())
  return limiter
}

describe('sessionLimit', () => {
  it('refuses to start before another plugin', async () => {
    const limit = sessionLimit(limited())
    const { auth } = startAuth({ limit: false, plugins: [bearer(), limit, jwt()] })
    await expect(auth.$context).rejects.toThrow('sessionLimit() must come after better-auth\'s "jwt" plugin.')
  })

  it.each([anonymous(), multiSession(), nextCookies(), { id: 'oauth-provider' }])(
    'refuses to start behind a plugin that acts on logins: $id',
    async (plugin) => {
      const { auth } = startAuth({ plugins: [plugin] })
      const message = `sessionLimit() must come before better-auth's "${plugin.id}" plugin.`
      await expect(auth.$context).rejects.toThrow(message)
    },
  )

  it('starts before a plugin that copies cookies for a framework', async () => {
    const { auth } = startAuth({ limit: false, plugins: [bearer(), sessionLimit(limited()), nextCookies()] })
    expect((await auth.$context).hasPlugin('sessmgr')).toBe(true)
  })

  it('refuses to start without a place for sessions', async () => {
    const auth = betterAuth({ plugins: [sessionLimit(limited())], logger: { disabled: true } })
    await expect(auth.$context).rejects.toThrow('sessionLimit() needs "database" or "secondaryStorage".')
  })

  it('refuses anything except a limiter and known options', () => {
    expect(() => sessionLimit({} as never)).toThrow('"limiter" must be the limiter that sessmgr() returned')
    expect(() => sessionLimit(limited(), { refusedURL: '/' } as never)).toThrow('Did you mean "refusedUrl"?')
  })

  it('cannot look up sessions before better-auth has started', async () => {
    const { sessions } = sessionLimit(limited())
    await expect(async () => sessions.exists('token')).rejects.toThrow('before betterAuth()')
  })
})
