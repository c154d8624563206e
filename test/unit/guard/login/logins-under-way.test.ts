import { describe, expect, it } from 'vitest'
import { LoginsUnderWay } from '../../../../src/guard/login/logins-under-way.ts'
import { deferred } from '../../../support/deferred.ts'

const login = { userId: 7, sessionId: 'the one that the visitor came with' }

describe('a login under way', () => {
  it('is known while it runs, of its own request alone', async () => {
    const logins = new LoginsUnderWay()
    const request = {}
    const { promise, resolve } = deferred<string>()
    const run = logins.run(request, login, () => promise)
    expect([logins.of(request), logins.of({}), logins.of(undefined)]).toEqual([login, undefined, undefined])
    resolve('done')
    expect(await run).toBe('done')
    expect(logins.of(request)).toBeUndefined()
  })

  it('is over when it fails', async () => {
    const logins = new LoginsUnderWay()
    const request = {}
    await expect(logins.run(request, login, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    expect(logins.of(request)).toBeUndefined()
  })

  it('waits for its turn: the next login of the same request begins after it, that of another does not wait', async () => {
    const logins = new LoginsUnderWay()
    const request = {}
    const steps: string[] = []
    const { promise, resolve } = deferred()
    const before = logins.inTurn(request, () => promise.then(() => void steps.push('first')))
    const after = logins.inTurn(request, async () => void steps.push('second'))
    await logins.inTurn({}, async () => void steps.push('of another request'))
    resolve()
    await Promise.all([before, after])
    expect(steps).toEqual(['of another request', 'first', 'second'])
  })
})
