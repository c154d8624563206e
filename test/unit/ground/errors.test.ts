import { describe, expect, it } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'

describe('SessmgrError', () => {
  it('carries the status of its answer, under the names that Express and Fastify read', () => {
    expect(new SessmgrError('login_limit_reached', 'full')).toMatchObject({
      status: 403,
      statusCode: 403,
      expose: true,
      headers: {},
    })
  })

  it('says with 503 when to come back, and keeps its message from the client', () => {
    expect(new SessmgrError('store_unavailable', 'down')).toMatchObject({
      status: 503,
      statusCode: 503,
      expose: false,
      headers: { 'Retry-After': '2' },
    })
  })

  it('knows an error of another copy of the package, and no other', () => {
    const elsewhere = Object.defineProperty(new Error('from another door'), Symbol.for('sessmgr.error'), {
      value: true,
    })
    expect(elsewhere instanceof SessmgrError).toBe(true)
    for (const other of [new Error('no'), { code: 'store_unavailable' }, null, 'store_unavailable']) {
      expect((other as unknown) instanceof SessmgrError).toBe(false)
    }
  })
})
