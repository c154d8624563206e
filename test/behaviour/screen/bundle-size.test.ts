import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createAdminAssets } from '../../../src/features/admin/admin-assets.ts'

const FOLDER = new URL('../../../dist/admin/', import.meta.url)
const kB = (bytes: number) => Math.round(bytes / 100) / 10

const packed = (name: string) => gzipSync(readFileSync(new URL(`assets/${name}`, FOLDER)), { level: 9 }).length

test('the first load takes at most 150 kB of compressed JavaScript', async () => {
  if (!existsSync(FOLDER)) throw new Error('dist/admin is missing: run `npm run build`.')
  const { script, modules, styles } = await createAdminAssets(FOLDER.pathname).entry()
  const first = [script, ...modules]
  const size = first.reduce((sum, name) => sum + packed(name), 0)
  const later = readdirSync(new URL('assets/', FOLDER)).filter((name) => name.endsWith('.js') && !first.includes(name))
  console.log(
    `first load: ${kB(size)} kB of JavaScript, ${kB(styles.reduce((sum, name) => sum + packed(name), 0))} kB of style; ` +
      `later: ${later.map((name) => `${name} ${kB(packed(name))} kB`).join(', ')}`,
  )
  expect(first.length).toBeGreaterThan(0)
  expect(size).toBeGreaterThan(50_000)
  expect(size).toBeLessThanOrEqual(150_000)
})
