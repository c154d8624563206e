import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearestName } from '../../../src/ground/nearest-name.ts'

const KNOWN = ['maximum', 'logic', 'sessionStore', 'sessmgr_login_blocked', 'sessmgr_logout_all_users']

describe('nearestName', () => {
  it.each([
    ['maximun', 'maximum'],
    ['max1mum', 'maximum'],
    ['maximu', 'maximum'],
    ['maximumm', 'maximum'],
    ['Logic', 'logic'],
    ['sessionstore', 'sessionStore'],
    ['sessmgr_logn_blocked', 'sessmgr_login_blocked'],
    ['sessmgr_logout_all_user', 'sessmgr_logout_all_users'],
  ])('takes %s for %s', (given, meant) => {
    expect(nearestName(given, KNOWN)).toBe(meant)
  })

  it.each(['cookie', 'xyz', '', 'sessmgr'])('makes no guess for %j, which is near to nothing', (given) => {
    expect(nearestName(given, KNOWN)).toBeUndefined()
  })

  it('makes no guess when nothing is known', () => {
    expect(nearestName('maximum', [])).toBeUndefined()
  })

  it('prefers the nearest of several near names', () => {
    expect(nearestName('abcdef', ['abcdxx', 'abcdex', 'abxxef'])).toBe('abcdex')
  })

  it('takes every known name for itself', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), (name) => {
        expect(nearestName(name, KNOWN)).toBe(name)
      }),
    )
  })

  it('forgives one wrong, missing or added letter anywhere in a name', () => {
    const letter = fc.constantFrom('', 'q', 'qq')
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), fc.nat(), letter, (name, position, replacement) => {
        const at = position % name.length
        expect(nearestName(name.slice(0, at) + replacement + name.slice(at + 1), KNOWN)).toBe(name)
      }),
    )
  })
})
