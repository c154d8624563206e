import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as names from '../../../src/ground/constants.ts'
import { HOMEPAGE, pageAddress } from '../../../src/ground/help.ts'
import { safeLogger } from '../../../src/ground/logger.ts'

const PAGE = 'node_modules/sessmgr/docs/troubleshooting.md'

/** Makes a folder below a new folder the working folder, and returns the new folder. */
function enterFolder(below: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sessmgr help ')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(join(folder, below))
  onTestFinished(() => cwd.mockRestore())
  return folder
}

test('with a homepage, help is on the web, and without one a file that terminals open, below the folder as well', () => {
  const github = 'https://github.com/owner/name'
  expect(pageAddress(`${github}#readme`)).toBe(`${github}/blob/HEAD/docs/troubleshooting.md`)
  expect(pageAddress('https://docs.example/sessmgr/')).toBe('https://docs.example/sessmgr/troubleshooting')
  for (const below of ['', 'packages/app']) {
    const folder = enterFolder(below)
    expect(pageAddress(undefined)).toBe(PAGE)
    const file = join(folder, PAGE)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '')
    expect(pageAddress(undefined)).toBe(pathToFileURL(file).href)
    expect(pageAddress(undefined)).toContain('sessmgr%20help')
  }
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

test('the homepage, the version and the names are those of the package, on which add-ons and scripts rely', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  expect([HOMEPAGE, names.VERSION]).toEqual([manifest.homepage, manifest.version])
  expect(names).toMatchObject({
    SLUG: 'sessmgr',
    TEXT_DOMAIN: 'sessmgr',
    OPTION_KEY: 'sessmgr_settings',
    REST_NAMESPACE: 'sessmgr/v1',
  })
})

test('a logger that throws or rejects does no harm, and every other gets what is given', async () => {
  const fail = () => {
    throw new Error('The disk is full.')
  }
  for (const write of [fail, () => Promise.reject(new Error('The disk is full.'))]) {
    const logger = safeLogger({ warn: write, error: write })
    for (const log of [logger.warn, logger.error]) expect(() => log('a')).not.toThrow()
  }
  await new Promise(setImmediate)
  const lines: unknown[][] = []
  const note = (...line: unknown[]) => void lines.push(line)
  const logger = safeLogger({ warn: note, error: note })
  logger.warn('a', { b: 1 })
  logger.error('c')
  expect(lines).toEqual([['a', { b: 1 }], ['c']])
})
