import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { HOMEPAGE, pageAddress } from '../../../src/ground/help.ts'

const PAGE = 'node_modules/sessmgr/docs/troubleshooting.md'

/** Makes a folder below a new folder the working folder, and returns the new folder. */
function enterFolder(below: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sessmgr help ')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(join(folder, below))
  onTestFinished(() => cwd.mockRestore())
  return folder
}

test.each([
  ['https://github.com/owner/name#readme', 'https://github.com/owner/name/blob/HEAD/docs/troubleshooting.md'],
  ['https://docs.example/sessmgr/', 'https://docs.example/sessmgr/troubleshooting'],
])('with the homepage %s, help is on the web', (homepage, address) => {
  expect(pageAddress(homepage)).toBe(address)
})

test.each(['', 'packages/app'])('without a homepage, help is a file that terminals open, below %j as well', (below) => {
  const folder = enterFolder(below)
  expect(pageAddress(undefined)).toBe(PAGE)
  const file = join(folder, PAGE)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '')
  expect(pageAddress(undefined)).toBe(pathToFileURL(file).href)
  expect(pageAddress(undefined)).toContain('sessmgr%20help')
})

test('without the working folder, or in a browser, help is the path below the project', () => {
  const cwd = vi.spyOn(process, 'cwd').mockImplementation(() => {
    throw new Error('ENOENT')
  })
  expect(pageAddress(undefined)).toBe(PAGE)
  cwd.mockRestore()
  vi.stubGlobal('process', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  expect(pageAddress(undefined)).toBe(PAGE)
})

test('the homepage is that of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  expect(HOMEPAGE).toBe(manifest.homepage)
})
