import { expect, it } from 'vitest'
import { checkOrigins, isOwnOrigin } from '../../../src/live/own-origin.ts'

const upgrade = 'websocket'

it.each([
  ['http://example.test', 'example.test'],
  ['http://example.test', 'EXAMPLE.test'],
  ['http://example.test', 'example.test:80'],
  ['https://example.test', 'example.test'],
  ['https://example.test', 'example.test:443'],
  ['http://127.0.0.1:8080', '127.0.0.1:8080'],
])('%s may connect to %s', (origin, host) => {
  expect(isOwnOrigin({ origin, host, upgrade }, undefined)).toBe(true)
})

it.each([
  ['https://evil.example', 'example.test'],
  ['http://example.test:81', 'example.test'],
  ['https://example.test', 'example.test:80'],
  ['http://example.test.evil.example', 'example.test'],
  ['http://example.test@evil.example', 'example.test'],
  ['http://me:secret@example.test', 'example.test'],
  ['http://example.test/path', 'example.test'],
  ['http://', ''],
  ['null', 'null'],
  ['', ''],
  ['ftp://example.test', 'example.test'],
  ['http://example.test', undefined],
  ['http://example.test', 'me@example.test'],
])('%s may not connect to %s', (origin, host) => {
  expect(isOwnOrigin({ origin, host, upgrade }, undefined)).toBe(false)
})

it('an upgrade without an origin is refused, and another request is not', () => {
  expect(isOwnOrigin({ host: 'example.test', upgrade }, undefined)).toBe(false)
  expect(isOwnOrigin({ host: 'example.test' }, undefined)).toBe(true)
})

it('only the sites of the option may connect, if it is set', () => {
  const origins = ['https://Example.test:443']
  const from = (origin: string) => isOwnOrigin({ origin, host: 'internal', upgrade }, origins)
  expect(from('https://example.test')).toBe(true)
  expect(from('http://example.test')).toBe(false)
  expect(from('http://internal')).toBe(false)
})

it.each(['https://example.test', ['https://example.test/'], ['example.test'], [7]])('%j is refused', (origins) => {
  expect(() => checkOrigins(origins)).toThrow('"origins" must be an array of URLs')
})
