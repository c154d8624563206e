import { expect, test } from 'vitest'
import { sessmgr } from '../../../../src/index.ts'

const verify = () => true
const SAME = 'Every call of account() needs the same "stepUp", because the REST routes use it too'

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
