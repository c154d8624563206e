import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as constants from '../../../src/ground/constants.ts'

describe('constants', () => {
  it('tells the version of the package', () => {
    const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect(constants.VERSION).toBe(manifest.version)
    expect(constants.VERSION).toMatch(/^\d+\.\d+\.\d+/)
  })

  it('holds the names that add-ons and scripts rely on', () => {
    const { VERSION: _, LICENSING_ID: __, ...names } = constants
    expect(names).toEqual({
      SLUG: 'sessmgr',
      TEXT_DOMAIN: 'sessmgr',
      OPTION_KEY: 'sessmgr_settings',
      REST_NAMESPACE: 'sessmgr/v1',
    })
  })
})
