import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { createAdminAssets } from '../../../src/features/admin/admin-assets.ts'

const folder = mkdtempSync(join(tmpdir(), 'sessmgr-assets-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('nothing is read before somebody asks, and a build that comes later is found', async () => {
  rmSync(folder, { recursive: true })
  const assets = createAdminAssets(folder)
  await expect(assets.entry()).rejects.toThrow(/manifest\.json/)
  await expect(assets.find('main.js')).rejects.toThrow(/manifest\.json/)

  mkdirSync(join(folder, 'assets'), { recursive: true })
  for (const name of ['main.js', 'shared.js', 'deep.js', 'main.css', 'secret.js']) {
    writeFileSync(join(folder, 'assets', name), 'p{}')
  }
  const manifest = {
    'main.tsx': { file: 'assets/main.js', isEntry: true, css: ['assets/main.css'], imports: ['shared'] },
    'list.tsx': { file: 'assets/list.js', name: 'list', imports: ['main.tsx', 'deep'], css: ['assets/list.css'] },
    shared: { file: 'assets/shared.js', imports: ['deep', 'shared'] },
    deep: { file: 'assets/deep.js', imports: ['shared'] },
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  expect(await assets.entry()).toEqual({ script: 'main.js', modules: ['shared.js', 'deep.js'], styles: ['main.css'] })
  expect(await assets.entry(['list', 'unknown'])).toEqual({
    script: 'main.js',
    modules: ['shared.js', 'deep.js', 'list.js'],
    styles: ['main.css', 'list.css'],
  })

  const found = await assets.find('main.css')
  expect(found?.type).toBe('text/css; charset=utf-8')
  expect([String(found?.bytes), String(gunzipSync(found?.gzipped ?? ''))]).toEqual(['p{}', 'p{}'])
  expect(await assets.find('secret.js')).toBeUndefined()
  expect(await assets.find('../manifest.json')).toBeUndefined()
})
