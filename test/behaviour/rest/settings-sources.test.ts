import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { basic } from '../../support/rest-client.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

const SETTINGS = '/sessmgr/v1/settings'
const SITE = '/wp/v2/settings'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 5, logic: 'block' } } }))
const headers = forThisFile(() => host.scriptOf('admin'))
beforeEach(() => host.registry.options.delete('sessmgr_settings'))

const call = (method: string, path: string, json?: object) => host.call(method, path, { headers, json })
const stored = async () => (await host.registry.options.get('sessmgr_settings'))?.value

describe('rule 37: a setting over REST', () => {
  it('tells whether it is stored, and what the code gives', async () => {
    expect((await call('GET', `${SETTINGS}/maximum`)).json).toEqual({ value: 5, stored: false, default: 5 })
    await call('POST', SETTINGS, { maximum: 3 })
    expect(await stored()).toEqual({ maximum: 3 })
    expect((await call('GET', `${SETTINGS}/maximum`)).json).toEqual({ value: 3, stored: true, default: 5 })
    expect((await call('GET', `${SETTINGS}/logic`)).json).toEqual({ value: 'block', stored: false, default: 'block' })
    await call('POST', SETTINGS, { enforce: false })
    expect((await call('GET', `${SETTINGS}/enforce`)).json).toEqual({ value: false, stored: true, default: true })
    expect((await call('GET', `${SETTINGS}/idle_release`)).json).toEqual({ value: 0, stored: false, default: 0 })
  })

  it('is given back to the code, alone or with all others', async () => {
    await call('POST', SETTINGS, { maximum: 3, logic: 'allow' })
    const one = await call('DELETE', `${SETTINGS}/maximum`)
    expect([one.status, one.json]).toEqual([200, wholeSettings({ maximum: 5, logic: 'allow' })])
    expect(one.headers.etag).toBe((await call('GET', SETTINGS)).headers.etag)
    expect(await stored()).toEqual({ logic: 'allow' })
    const all = await call('DELETE', SETTINGS)
    expect([all.status, all.json]).toEqual([200, wholeSettings({ maximum: 5, logic: 'block' })])
    expect(await stored()).toBeUndefined()
  })

  it.each(['GET', 'DELETE'])('%s refuses a key that there is not', async (method) => {
    const answer = await call(method, `${SETTINGS}/colour`)
    expect([answer.status, answer.json.data.params]).toEqual([
      400,
      { key: 'must be one of maximum, logic, idle_release, enforce' },
    ])
  })
})

describe('rule 37: an option over REST', () => {
  it('tells what is stored, and is given back by key or whole', async () => {
    const name = `${SITE}/sessmgr_settings`
    const defaults = wholeSettings({ maximum: 5, logic: 'block' })
    expect((await call('GET', name)).json).toEqual({ value: defaults, stored: null, defaults })
    await call('POST', SITE, { sessmgr_settings: { maximum: 3, logic: 'allow' } })
    const both = { maximum: 3, logic: 'allow' }
    expect((await call('GET', name)).json).toEqual({ value: wholeSettings(both), stored: both, defaults })
    const left = { value: wholeSettings({ maximum: 3, logic: 'block' }), stored: { maximum: 3 }, defaults }
    expect((await call('DELETE', `${name}/logic`)).json).toEqual(left)
    expect((await call('DELETE', name)).json).toEqual({ value: defaults, stored: null, defaults })
  })

  it.each(['GET', 'DELETE'])('%s knows no option that is not exposed', async (method) => {
    const answer = await call(method, `${SITE}/sessmgr.secret`)
    expect([answer.status, answer.json.code]).toEqual([404, 'rest_no_route'])
  })
})

describe('rule 37: the settings of the lazy comments', () => {
  let comments: CommentsHost
  let admin: { authorization: string }
  beforeAll(async () => {
    comments = await startCommentsHost()
    admin = basic('admin', (await comments.limiter.passwords.create(1, 'test')).password)
  })
  afterAll(() => comments.close())

  it('are stored key by key, and the filter of their defaults holds for the others', async () => {
    const send = (method: string, path: string, json?: object) =>
      comments.client.send(method, `/api${path}`, { headers: admin, json })
    const name = `${SITE}/lazycomments_settings`
    await send('POST', SITE, { lazycomments_settings: { minimum_count: 4 } })
    expect((await send('GET', name)).json.stored).toEqual({ minimum_count: 4 })
    comments.limiter.hooks.addFilter('lazycomments_default_settings', 'late', (defaults) => ({
      ...defaults,
      button_text: 'More',
      minimum_count: 7,
    }))
    expect((await send('GET', name)).json.value).toMatchObject({ minimum_count: 4, button_text: 'More' })
    expect((await send('DELETE', `${name}/minimum_count`)).json.value).toMatchObject({ minimum_count: 7 })
  })
})
