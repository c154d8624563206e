import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { nightLimit } from '../../../examples/express-app/night-limit.ts'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { createExample } from '../../support/example-app.ts'
import { ExampleProcess } from '../../support/example-process.ts'

const KEY = /enter this license key at (\S+):\n(\S+)\n/

test('the key that is printed on request activates Role Limits, in every process with the same secret', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-addons-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const env = { SESSMGR_DB: join(folder, 'app.db') }
  const example = await ExampleProcess.start({ ...env, ADDON_LICENSE: '1' })
  onTestFinished(async () => void (await example.stop()))
  await expect.poll(() => example.output).toMatch(KEY)
  const [, address, key = ''] = KEY.exec(example.output) ?? []
  expect(address).toBe(`${example.origin}/admin/addons`)

  const { limiter, close } = await createExample({ SESSION_SECRET: 'test', ...env })
  onTestFinished(close)
  const { items } = await limiter.addons.list()
  expect(items).toMatchObject([
    { id: 7001, is_premium: true, is_active: true, is_license_active: false },
    { id: 7002, is_premium: false, is_active: true },
  ])
  expect(await limiter.addons.activate(7001, key)).toMatchObject({ is_license_active: true })

  const other = await createExample({ SESSION_SECRET: 'another secret of the example', ...env })
  onTestFinished(other.close)
  expect(await other.limiter.addons.isLicensed(7001)).toBe(false)
})

test('Night Limit sets a limit from midnight to six, and none until it is set', async () => {
  const limiter = sessmgr({ store: memoryStore(), settings: { maximum: 5 } })
  onTestFinished(() => limiter.close())
  let hour = 5
  nightLimit(limiter, 'pk_night', () => hour)
  expect(await limiter.settings.maximumOf(2)).toBe(5)
  await limiter.options.get('night_limit')?.update({ maximum: 1 })
  expect(await limiter.settings.maximumOf(2)).toBe(1)
  hour = 6
  expect(await limiter.settings.maximumOf(2)).toBe(5)
})
