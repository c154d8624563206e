import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Runs a CommonJS program on the built package. */
const run = (program: string) => spawnSync(process.execPath, ['-e', program], { cwd: ROOT, encoding: 'utf8' })

test('requiring the package loads neither isbot nor jose', () => {
  const program = `
    for (const name of ['sessmgr', 'sessmgr/comments', 'sessmgr/licensing']) require(name)
    console.log(Object.keys(require.cache).filter((file) => /node_modules.(isbot|jose)/.test(file)).length)`
  expect(run(program)).toMatchObject({ stdout: '0\n', stderr: '' })
})

test.each([
  "await import('sessmgr')",
  "process.getBuiltinModule('node:module').createRequire(process.cwd() + '/x')('sessmgr')",
])('%s loads no large module of Node', (load) => {
  const program = `const before = new Set(process.moduleLoadList)
      ${load}
      console.log(process.moduleLoadList.filter((name) => !before.has(name)).join('\\n'))`
  const loaded = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT, encoding: 'utf8' })
  expect(loaded).toMatchObject({ status: 0, stderr: '' })
  // Each takes milliseconds of every start.
  expect(loaded.stdout).not.toMatch(/^NativeModule (crypto|http|cluster|worker_threads|stream|util)$/m)
})

test('a license is signed in CommonJS, with jose as an ES module that is required', () => {
  const program = `
    const { issueLicense } = require('sessmgr/licensing')
    const { privateKey } = require('node:crypto').generateKeyPairSync('ed25519')
    const key = { kid: 'k1', key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
    issueLicense(key, { issuer: 'acme', productId: 1, expiresAt: null }).then((text) => {
      console.log(text.split('.').length, Object.keys(require.cache).some((file) => /node_modules.jose/.test(file)))
    })`
  expect(run(program)).toMatchObject({ stdout: '3 true\n', stderr: '' })
})

const require = createRequire(import.meta.url)

test('every entry point has the same names for import and require', () => {
  for (const name of ['', '/redis', '/document', '/sqlite', '/postgres', '/comments', '/live', '/testing']) {
    const imported = `console.log(Object.keys(await import('sessmgr${name}')).sort().join())`
    const names = spawnSync(process.execPath, ['--input-type=module', '-e', imported], { cwd: ROOT, encoding: 'utf8' })
    expect(names.stdout).not.toBe('\n')
    expect(names.stdout.trim().split(','), `sessmgr${name}`).toEqual(Object.keys(require(`sessmgr${name}`)).sort())
  }
})

test('sessmgr knows its errors whichever way they were loaded', () => {
  const { SessmgrError } = require('sessmgr')
  const { redisStore } = require('sessmgr/redis')
  expect(() => redisStore({})).toThrow(SessmgrError)
})
