import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { demoVendor, product } from '../../../examples/addon-role-limits/index.ts'
import { codeBlocks, pageAt } from '../../docs/pages.ts'
import { runCli } from '../../support/cli.ts'
import { createExample } from '../../support/example-app.ts'
import { ownFolder } from '../../support/own-folder.ts'

const blocks = codeBlocks(pageAt('examples/addon-role-limits/README.md'))
const inLanguage = (language: string) => blocks.filter((block) => block.language === language)

test('the add-on knows sessmgr by its doors alone', () => {
  const folder = fileURLToPath(new URL('../../../examples/addon-role-limits/', import.meta.url))
  const files = readdirSync(folder).filter((name) => /\.(ts|js)$/.test(name))
  const imported = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/(?:from|import) '([^']+)'/g)].map(([, from = '']) => from),
  )
  expect(imported).toContain('sessmgr')
  expect(imported.filter((from) => !/^(sessmgr(\/\w+)?|zod|node:\w+|\.\/[\w-]+\.ts)$/.test(from))).toEqual([])
})

test('the commands of the guide make a key, and a license that the example takes', async () => {
  const folder = ownFolder()
  const [keygen = '', start = '', issue = ''] = inLanguage('sh').flatMap(({ code }) => code.trim().split('\n'))
  const [command = '', file = ''] = keygen.split(' > ')
  const run = (line: string) => runCli(line.split(' ').slice(2), { cwd: folder })
  const { out: keys } = await run(command)
  expect(start).toBe(`ADDON_ROLE_LIMITS=${file} npm start`)
  writeFileSync(join(folder, file), keys)
  const { out: key } = await run(issue)

  const { limiter, close } = await createExample({ ADDON_ROLE_LIMITS: join(folder, file) })
  onTestFinished(close)
  expect(await limiter.addons.isLicensed(product.id)).toBe(false)
  expect(await limiter.addons.activate(product.id, key)).toMatchObject({ is_active: true, is_license_active: true })
})

test('ADDON_ROLE_LIMITS=none means no add-on, and a file without public keys is named, with the command for them', async () => {
  const { limiter, close } = await createExample({ ADDON_ROLE_LIMITS: 'none' })
  onTestFinished(close)
  expect(limiter.options.get('role_limits')).toBeUndefined()
  expect((await limiter.addons.list()).items).toEqual([])
  for (const file of ['none-there.json', fileURLToPath(import.meta.url)]) {
    expect(() => demoVendor(file)).toThrow(
      `ADDON_ROLE_LIMITS: ${file} contains no public keys. Create them: npx sessmgr license keygen demo-vendor.json > ${file}`,
    )
  }
})
