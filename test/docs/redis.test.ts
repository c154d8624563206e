import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createKeys } from '../../src/stores/redis/redis-calls.ts'
import { directoryRights, redisRights } from '../support/redis-rights.ts'
import { codeIn, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'

const page = pageAt('docs/redis.md')

it('docs/redis.md has every key', () => {
  const keys = createKeys('sessmgr:')
  const rows = tableRows(sectionOf(page, 'Keys').text).map(([key]) => codeIn(key))
  // The user id stands in the place of what it is called in the table.
  const spelled = [keys.sessions('@'), keys.passwords('@'), keys.transient('<key>'), keys.generation('<group>')]
  expect(spelled.length + 3).toBe(Object.keys(keys).length)
  expect(rows.toSorted()).toEqual(
    [
      ...spelled.map((key) => key.replace('%40', '<user id>')),
      keys.epoch,
      keys.options,
      ...Object.values(keys.people),
      'sessmgr:audit',
    ].toSorted(),
  )
})

it('docs/redis.md has every command that the scripts use', () => {
  const folder = join(ROOT, 'src/stores/redis/lua')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'))
  const scripts = files.map((file) => readFileSync(join(folder, file), 'utf8'))
  const commands = scripts.flatMap((text) =>
    [...text.matchAll(/(?:redis\.call|write)\('([A-Z]+)'/g)].map(([, name = '']) => name),
  )
  const named = [...redisRights(), ...directoryRights()].map((right) => right.slice(1).toUpperCase())
  expect(commands.length).toBeGreaterThan(15)
  expect([...new Set(commands)].filter((name) => !named.includes(name))).toEqual([])
})
