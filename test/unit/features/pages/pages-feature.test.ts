import { describe, expect, it, test } from 'vitest'
import { type SessmgrOptions, sessmgr } from '../../../../src/index.ts'

const users = { findById: () => undefined, findByEmail: () => undefined, findByLogin: () => undefined }
const host = { users: { ...users, summary: () => ({ id: 1, login: '', display_name: '' }) }, can: () => false }
const start = (options: SessmgrOptions) => sessmgr({ logger: { warn() {}, error() {} }, ...options })

describe('limiter.choice()', () => {
  it('needs to know the users, or how to sign them in', () => {
    expect(() => start({}).choice()).toThrow('choice() needs sessmgr({ host }), or "complete"')
    expect(start({}).choice({ complete: () => {} })).toBeTypeOf('function')
    expect(start({ host }).choice()).toBeTypeOf('function')
  })

  it('is refused in place of its result', () => {
    const request = { method: 'GET', url: '/', headers: {} }
    expect(() => start({ host }).choice(request as object)).toThrow('Write limiter.choice(), with parentheses')
  })
})

const verify = () => true
const SAME = 'All account() calls need the same "stepUp", because the REST routes use it too'

test.each([
  [{ stepUp: { verify } }, {}],
  [{}, { stepUp: { verify } }],
  [{ stepUp: { freshFor: 900 } }, { stepUp: { freshFor: 60 } }],
  [{ stepUp: { url: '/passkey' } }, { stepUp: { verify } }],
  [{ stepUp: { verify } }, { stepUp: { verify, attempts: { count: 3, minutes: 10 } } }],
])('a second page may not weaken or change the proof of the first: %o, %o', (first, second) => {
  const limiter = sessmgr()
  limiter.account(first)
  expect(() => limiter.account(second)).toThrow(SAME)
})

test('pages with the same proof may differ otherwise', () => {
  const limiter = sessmgr()
  limiter.account({ stepUp: { verify }, loginUrl: '/login' })
  expect(() => limiter.account({ stepUp: { verify }, loginUrl: '/de/login' })).not.toThrow()
})
