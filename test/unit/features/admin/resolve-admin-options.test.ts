import { describe, expect, it } from 'vitest'
import { resolveAdminOptions } from '../../../../src/features/admin/resolve-admin-options.ts'
import { sessmgr } from '../../../../src/index.ts'
import { createRestUsers, restHostOf } from '../../../support/rest-users.ts'

const refused = (options: unknown) => {
  try {
    resolveAdminOptions(options as object)
  } catch (error) {
    return error as { code: string; message: string }
  }
  throw new Error('The options were accepted.')
}

describe('the options of the admin screen', () => {
  it('have defaults', () => {
    const defaults = {
      loginUrl: '/login',
      scripts: [],
      scriptOrigins: [],
      frameAncestors: [],
      path: undefined,
      support: {},
    }
    expect(resolveAdminOptions()).toEqual(defaults)
    expect(resolveAdminOptions({ loginUrl: undefined, scripts: undefined })).toEqual(defaults)
  })

  it('take paths, addresses and origins', () => {
    const given = {
      loginUrl: 'https://id.example/login?app=1',
      scripts: ['/add-on.js', 'https://cdn.example/add-on.js?v=1', '/add-on.css'],
      scriptOrigins: ['https://cdn.example'],
      frameAncestors: ['http://localhost:8080'],
      path: '/manage/sessions',
      support: { docs: '/help', forum: 'https://forum.example/c/1', contact: 'mailto:help@example.test' },
    }
    expect(resolveAdminOptions(given)).toEqual(given)
  })

  it.each([
    ['loginUrl', 'javascript:alert(1)'],
    ['loginUrl', '//elsewhere.example'],
    ['loginUrl', 'login'],
    ['loginUrl', 7],
    ['scripts', '/add-on.js'],
    ['scripts', ['data:text/javascript,1']],
    ['scripts', ['/a b.js']],
    ['scripts', ['/\\elsewhere.example/x.js']],
    ['scriptOrigins', ['https://cdn.example/path']],
    ['scriptOrigins', ["'unsafe-inline'"]],
    ['scriptOrigins', ['*']],
    ['scriptOrigins', ['https://cdn.example; script-src *']],
    ['frameAncestors', ['data:']],
    ['path', '/admin/'],
    ['path', 'admin'],
    ['support', 'mailto:help@example.test'],
    ['support.docs', { docs: 'javascript:alert(1)' }],
    ['support.contact', { contact: 'help@example.test' }],
    ['support.forum', { forum: '//elsewhere.example' }],
  ])('refuse %s: %j, and name it', (name, value) => {
    const { code, message } = refused({ [name.split('.')[0] as string]: value })
    expect(code).toBe('invalid_option')
    expect(message).toContain(`"${name}"`)
  })

  it('refuse an unknown one, and name the nearest', () => {
    expect(refused({ loginURL: '/x' }).message).toBe('admin() has no option "loginURL". Did you mean "loginUrl"?')
    expect(refused(null).code).toBe('invalid_option')
    expect(refused({ support: { doc: '/' } }).message).toBe('"support" has no key "doc". Did you mean "docs"?')
  })

  it('are refused without a host: nobody could ever open the screen', () => {
    expect(() => sessmgr().admin()).toThrow(/needs users and permissions/)
  })
})

describe('enqueueAdmin()', () => {
  it('takes what a page can load, and nothing else', () => {
    const limiter = sessmgr({ host: restHostOf(createRestUsers()) })
    limiter.enqueueAdmin('/add-on.js')
    limiter.enqueueAdmin('https://cdn.example/x.css')
    for (const bad of ['javascript:1', 'x.js', '', undefined]) {
      expect(() => limiter.enqueueAdmin(bad as string), String(bad)).toThrow(/takes a path/)
    }
  })
})
