import { inspect } from 'node:util'
import { describe, expect, it, test } from 'vitest'
import { errorText, messageOf, rewordError, SessmgrError } from '../../../src/ground/errors.ts'

describe('SessmgrError', () => {
  it('is printed with its code, with what is set, and with where to read on, but not with what frameworks look for', () => {
    const printed = (error: SessmgrError) => /\{\n[\s\S]*\}$/.exec(inspect(error))?.[0]
    expect(printed(new SessmgrError('invalid_option', 'wrong'))).toMatch(/^\{\n {2}code: .*,\n {2}help: .*\n\}$/)
    const params = { maximum: 'must be 1 or more' }
    const problem = printed(new SessmgrError('invalid_setting', 'wrong', { params }))
    expect(problem).toMatch(/^\{\n {2}code: .*,\n {2}params: \{ maximum: 'must be 1 or more' \},\n {2}help: .*\n\}$/)
  })

  it('has no message for clients with 500, where frameworks would send it', () => {
    const error = new SessmgrError('user_id_missing', 'Set userId: sessmgr({ userId }).')
    expect(error).toMatchObject({
      status: 500,
      statusCode: undefined,
      expose: false,
      message: expect.stringContaining('Set userId'),
    })
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: 'user_id_missing',
      message: 'Internal Server Error',
      data: { status: 500 },
    })
    // NestJS 10 and 11 send the message of such errors.
    const isHttpError = (it: { statusCode?: number | undefined; message?: string }) => it.statusCode && it.message
    expect(isHttpError(error)).toBeFalsy()
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

test('an error is told with its cause, and without the session id', () => {
  for (const [error, text] of [
    [new Error('no room', { cause: new Error('OOM on sess:raw-id') }), 'no room OOM on sess:<session id>'],
    [new Error('raw-id is gone'), '<session id> is gone'],
    [new Error('failed', { cause: 'by hand' }), 'failed by hand'],
    ['a text', 'a text'],
    [new AggregateError([new Error('connect ECONNREFUSED 127.0.0.1')]), 'connect ECONNREFUSED 127.0.0.1'],
  ] as const) {
    expect(errorText(error, 'raw-id')).toBe(text)
  }
  expect(errorText(new Error('no room'), '')).toBe('no room')
})

test('a sentence is found of whatever is thrown', () => {
  for (const [error, sentence] of [
    [new AggregateError([new Error('refused'), new Error('timed out')]), 'refused'],
    [new AggregateError([new Error('refused')], 'nobody there'), 'nobody there'],
    [Object.assign(new Error(), { code: 'ECONNRESET' }), 'ECONNRESET'],
    [new Error(), 'no message'],
    [{}, 'no message'],
    ['by hand', 'by hand'],
    [undefined, 'undefined'],
  ] as const) {
    expect(messageOf(error)).toBe(sentence)
  }
})

test('an error worded anew keeps its code, and nothing that a client attached', () => {
  const error = Object.assign(new Error('cannot read /sessions/id'), { code: 'EIO', command: { args: ['id'] } })
  const reworded = rewordError(error, (text) => text.replace('id', '…'))
  expect(reworded).toMatchObject({ message: 'cannot read /sessions/…', code: 'EIO' })
  expect(inspect(reworded)).not.toContain("'id'")
  const made = rewordError('down', (text) => `${text}: …`)
  expect([made.message, 'code' in made]).toEqual(['down: …', false])
})
