import { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { CookieScope } from '../../../../src/door/host-types.ts'
import { DeviceCookies } from '../../../../src/door/request/device-cookies.ts'
import { clientRequest } from '../../../support/login-host.ts'

const cookies = new DeviceCookies('device')
const VALUE = 'hWqp9_x-0AbCdEfGhIjKlQ'
const nameOf = (cookie: string) => cookie.slice(0, cookie.indexOf('='))

describe('the device cookie', () => {
  it('identifies a browser to each user, and to no one else', () => {
    const [mine, again] = [cookies.recognize(7, `device=${VALUE}`), cookies.recognize('7', `a=b; device=${VALUE}; c=d`)]
    expect(mine.id).toMatch(/^[\w-]{16}$/)
    expect(again).toEqual(mine)
    expect(cookies.recognize(8, `device=${VALUE}`).id).not.toBe(mine.id)
    expect(mine.cookie).toContain(`device=${VALUE};`)
    expect(mine.cookie).not.toContain(mine.id)
  })

  it('is new for each browser without one', () => {
    const made = Array.from({ length: 100 }, () => cookies.recognize(7, undefined))
    expect(new Set(made.map(({ cookie }) => cookie)).size).toBe(100)
    expect(new Set(made.map(({ id }) => id)).size).toBe(100)
    const [first] = made
    expect(cookies.recognize(7, first?.cookie)).toEqual({ ...first, isSent: true })
  })

  it.each<[name: string, scope: CookieScope, attributes: string]>([
    ['__Host-device', { path: '/', secure: true }, 'Path=/; HttpOnly; Secure; SameSite=Lax'],
    ['__Host-device', { secure: true }, 'Path=/; HttpOnly; Secure; SameSite=Lax'],
    ['device', { path: '/app', secure: true }, 'Path=/app; HttpOnly; Secure; SameSite=Lax'],
    ['device', { path: '/', secure: false }, 'Path=/; HttpOnly; SameSite=Lax'],
    ['device', {}, 'Path=/; HttpOnly; SameSite=Lax'],
  ])('has the name %s where %j, and is read under that name only', (name, scope, attributes) => {
    const other = name === 'device' ? '__Host-device' : 'device'
    const { cookie } = cookies.recognize(7, `${other}=${VALUE}`, scope)
    expect(cookie).toMatch(new RegExp(`^${name}=[\\w-]{22}; Max-Age=34560000; ${attributes}$`))
    expect(cookie).not.toContain(VALUE)
    expect(cookies.recognize(7, `${name}=${VALUE}`, scope).cookie).toContain(VALUE)
  })

  it('applies where the cookie of the session does', () => {
    const request = (fields: object) => clientRequest({ cookie: { path: '/a', secure: true } }, fields)
    expect(cookies.recognizeRequest(7, request({})).cookie).toContain('Path=/a; HttpOnly; Secure')
    const scope = { path: '/b', secure: false }
    expect(cookies.recognizeRequest(7, request({ cookieScope: scope })).cookie).toContain('Path=/b; HttpOnly; SameSite')
  })

  it('is removed under both names, and refuses what is no response', () => {
    const response = new ServerResponse(clientRequest() as never)
    response.setHeader('Set-Cookie', ['sid=1', `device=${VALUE}`])
    cookies.forget({ raw: response })
    response.writeHead(200)
    const set = response.getHeader('Set-Cookie') as string[]
    expect(set.map(nameOf)).toEqual(['sid', '__Host-device', 'device'])
    expect(set.slice(1)).toEqual([expect.stringContaining('Max-Age=0; Path=/; '), expect.stringContaining('Max-Age=0')])
    for (const wrong of [undefined, null, {}, 'response']) {
      expect(() => cookies.forget(wrong as never)).toThrow('limiter.forgetDevice(response)')
    }
  })
})
