import { createRequire } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { sessmgr } from '../../../src/index.ts'

describe('sessmgr()', () => {
  it('fires sessmgr_init once, with itself, when everything is wired and the application has subscribed', async () => {
    const limiter = sessmgr()
    const cores: unknown[] = []
    limiter.hooks.addAction('sessmgr_init', 'test', async (core) => {
      cores.push(core)
      expect(await limiter.settings.get()).toEqual({ maximum: 1, logic: 'allow' })
    })
    await nextTurn()
    await nextTurn()
    expect(cores).toEqual([limiter])
    expect(limiter.hooks.didAction('sessmgr_init')).toBe(1)
    await limiter.close()
  })

  it('waits, when it is closed, for subscribers that are still at work', async () => {
    const limiter = sessmgr()
    let done = false
    limiter.hooks.addAction('sessmgr_destroy_all_sessions', 'test', async () => {
      await nextTurn()
      done = true
    })
    await limiter.sessions.endAll('alice')
    await limiter.close()
    expect(done).toBe(true)
  })
})

describe('the built package', () => {
  it.each(['sessmgr', 'sessmgr/redis', 'sessmgr/comments', 'sessmgr/testing'])(
    '%s has the same names for import and require',
    async (door) => {
      const require = createRequire(import.meta.url)
      const manifest = require('../../../package.json') as {
        exports: Record<string, Record<string, { default: string }>>
      }
      const paths = manifest.exports[door.replace('sessmgr', '.')]
      const imported: object = await import(
        /* @vite-ignore */ new URL(`../../../${paths?.import?.default}`, import.meta.url).href
      )
      const required: object = require(`../../../${paths?.require?.default}`)
      expect(Object.keys(imported).sort()).toEqual(Object.keys(required).sort())
      expect(Object.keys(imported).length).toBeGreaterThan(0)
    },
  )

  it('knows its errors whichever way they were loaded', async () => {
    const require = createRequire(import.meta.url)
    const { SessmgrError } = require('../../../dist/index.cjs') as {
      SessmgrError: new (code: string, text: string) => Error
    }
    const { redisStore } = require('../../../dist/redis.cjs') as { redisStore: (options: object) => unknown }
    expect(() => redisStore({})).toThrow(SessmgrError)
  })
})
