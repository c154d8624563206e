import { describe, expect, it } from 'vitest'
import { type ChoiceOptions, resolveChoiceOptions } from '../../../../src/features/pages/page-options.ts'

describe('the options of the choice page', () => {
  it('have defaults', () => {
    expect(resolveChoiceOptions()).toEqual({
      url: '/login/choose',
      loginUrl: '/login',
      successRedirect: '/',
      field: { name: 'code', label: undefined },
      showsIp: false,
      seconds: 300,
      secretInBody: false,
      styles: {},
      frameAncestors: [],
    })
  })

  it.each([
    [{ urll: '/a' }, 'choice() has no option "urll". Did you mean "url"?'],
    [{ url: 'login' }, '"url" must be a path'],
    [{ url: '/' }, '"url" must be a path'],
    [{ url: '//evil.example' }, '"url" must be a path'],
    [{ url: '/choose/' }, '"url" must be a path'],
    [{ url: '/choose?a' }, '"url" must be a path'],
    [{ loginUrl: '//evil.example' }, '"loginUrl" must be a path or an http or https URL'],
    [{ successRedirect: 'javascript:alert(1)' }, '"successRedirect" must be a path or an http or https URL'],
    [{ complete: true }, '"complete" must be a function'],
    [{ verify: 'yes' }, '"verify" must be a function'],
    [{ field: { label: 7 } }, '"field.label" must be a string'],
    [
      { field: { name: 'end' } },
      '"field.name" must consist of letters, digits, "_" and "-", and not be one of end, all, cancel, proof, pending',
    ],
    [{ field: { name: 'a b' } }, '"field.name" must consist of letters'],
    [{ field: { type: 'text' } }, '"field" has no key "type"'],
    [{ show: { location: true } }, '"show" has no key "location"'],
    [{ choiceSeconds: 59 }, '"choiceSeconds" must be a whole number from 60 to 900; got 59'],
    [{ choiceSeconds: 901 }, '"choiceSeconds" must be a whole number from 60 to 900; got 901'],
    [{ secretInBody: 'yes' }, '"secretInBody" must be true or false; got the string'],
    [{ attempts: { count: 5, minutes: 10 } }, '"attempts" needs "verify"'],
    [{ verify: () => true, attempts: { count: 5 } }, '"attempts.minutes" must be a whole number from 1 to 1440'],
    [{ cooldown: { count: 0, minutes: 5 } }, '"cooldown.count" must be a whole number from 1 to 100'],
    [{ cooldown: { count: 3 } }, '"cooldown.minutes" must be a whole number from 1 to 1440; got undefined'],
    [{ cooldown: { count: 3, minutes: 5, hours: 1 } }, '"cooldown" has no key "hours"'],
    [{ styles: { accent: 'red;}' } }, '"styles.accent" must be a color'],
    [{ styles: { acent: '#0a5' } }, '"styles" has no color "acent". Did you mean "accent"?'],
    [{ frameAncestors: ['https://a.example/path'] }, '"frameAncestors" must be a list of origins'],
    [{ render: '<html>' }, '"render" must be a function'],
  ])('%j are refused', (options, message) => {
    expect(() => resolveChoiceOptions(options as unknown as ChoiceOptions)).toThrow(message)
  })
})
