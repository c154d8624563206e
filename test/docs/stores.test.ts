import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rowKey } from '../../src/stores/document/document-rows.ts'
import { EPOCH_KEY } from '../../src/stores/document/document-values.ts'
import { directoryRights, redisRights } from '../support/redis-rights.ts'
import { codeIn, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'

const page = pageAt('docs/stores.md')

it('docs/stores.md has every key', () => {
  const rows = tableRows(sectionOf(page, 'Keys').text).map(([key]) => codeIn(key))
  const names = {
    user: 'user id',
    passwords: 'user id',
    option: 'name',
    transient: 'key',
    generation: 'group',
  } as const
  const kinds = Object.keys(names) as (keyof typeof names)[]
  expect(rows.toSorted()).toEqual(
    [
      ...kinds.map((kind) => `sessmgr:${rowKey(kind, '')}<${names[kind]}>`),
      `sessmgr:${EPOCH_KEY}`,
      ...['recent', 'most'].map((name) => `sessmgr:{people}:${name}`),
    ].toSorted(),
  )
})

it('docs/stores.md has every command that the scripts use', () => {
  const folder = join(ROOT, 'src/stores/redis/lua')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'))
  const scripts = files.map((file) => readFileSync(join(folder, file), 'utf8'))
  const commands = scripts.flatMap((text) =>
    [...text.matchAll(/(?:redis\.call|write)\('([A-Z]+)'/g)].map(([, name = '']) => name),
  )
  const named = [...redisRights(), ...directoryRights()].map((right) => right.slice(1).toUpperCase())
  expect(commands.length).toBeGreaterThan(10)
  expect([...new Set(commands)].filter((name) => !named.includes(name))).toEqual([])
})
