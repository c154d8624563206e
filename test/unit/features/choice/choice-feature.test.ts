import { describe, expect, it } from 'vitest'
import { memoryStore, type SessmgrOptions, sessmgr } from '../../../../src/index.ts'

const users = { findById: () => undefined, findByEmail: () => undefined, findByLogin: () => undefined }
const host = { users: { ...users, summary: () => ({ id: 1, login: '', display_name: '' }) }, can: () => false }
const start = (options: SessmgrOptions) => sessmgr({ logger: { warn() {}, error() {} }, ...options })

describe('limiter.choice()', () => {
  it('needs to know the users, or how to sign them in', () => {
    expect(() => start({}).choice()).toThrow('choice() needs the option "host" of sessmgr(), or "complete"')
    expect(start({}).choice({ complete: () => {} })).toBeTypeOf('function')
    expect(start({ host }).choice()).toBeTypeOf('function')
  })

  it('needs a store that can read and delete a string in one step', () => {
    const store = memoryStore()
    Object.assign(store.transients, { take: undefined })
    expect(() => start({ host, store }).choice()).toThrow('choice() needs a store with "transients.take"')
  })

  it('is refused in place of its result', () => {
    const request = { method: 'GET', url: '/', headers: {} }
    expect(() => start({ host }).choice(request as object)).toThrow('Write limiter.choice(), with parentheses')
  })
})
