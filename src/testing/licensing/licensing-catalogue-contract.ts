import assert from 'node:assert/strict'
import { assertHidden, type LicensingCase, refusalOf } from './licensing-case.ts'

const TEXTS = ['slug', 'title', 'link', 'description', 'homepage', 'banner', 'banner_large'] as const

/** Requirements on catalogues. */
export const catalogueContract: readonly LicensingCase[] = [
  [
    'has a name for the cache and the log',
    async ({ provider }) => {
      assert.match(provider.name, /^[a-z][a-z0-9.:-]*$/)
    },
  ],
  [
    'lists every add-on in its order',
    async ({ provider, catalogue }) => {
      const addons = await provider.listAddons({})
      const shown = addons.map(({ id, slug, title, is_premium }) => ({ id, slug, title, is_premium }))
      assert.ok(catalogue.length >= 2)
      assert.deepEqual(shown, catalogue)
    },
  ],
  [
    'gives ids that are positive safe integers, each once',
    async ({ provider }) => {
      const ids = (await provider.listAddons({})).map(({ id }) => id)
      for (const id of ids) assert.ok(Number.isSafeInteger(id) && id > 0)
      assert.equal(new Set(ids).size, ids.length)
    },
  ],
  [
    'gives every text as a text, and an icon or null',
    async ({ provider }) => {
      for (const addon of await provider.listAddons({})) {
        for (const name of TEXTS) assert.equal(typeof addon[name], 'string', name)
        assert.ok(addon.icon === null || typeof addon.icon === 'string')
      }
    },
  ],
  [
    'tells premium add-ons from free ones by true and false',
    async ({ provider }) => {
      const premium = (await provider.listAddons({})).map(({ is_premium }) => is_premium)
      assert.ok(premium.includes(true) && premium.includes(false))
    },
  ],
  [
    'gives plain JSON, what the backend said of each add-on included',
    async ({ provider }) => {
      const addons = await provider.listAddons({})
      assert.deepEqual(JSON.parse(JSON.stringify(addons)), addons)
      for (const { raw } of addons) assert.equal(typeof raw, 'object')
    },
  ],
  [
    'gives nothing secret',
    async ({ provider, secrets }) => {
      assertHidden(await provider.listAddons({}), secrets)
    },
  ],
  [
    'gives the same again, whatever was done to what it gave before',
    async ({ provider }) => {
      const first = await provider.listAddons({})
      const copy = structuredClone(first)
      Object.assign(first[0] as object, { title: 'changed' })
      ;(first as unknown[]).length = 1
      assert.deepEqual(await provider.listAddons({}), copy)
    },
  ],
  [
    'gives the same to somebody who wants to know what is new',
    async ({ provider }) => {
      assert.deepEqual(await provider.listAddons({ force: true }), await provider.listAddons({ force: false }))
    },
  ],
  [
    'answers many at once',
    async ({ provider, catalogue }) => {
      const lists = await Promise.all(Array.from({ length: 10 }, () => provider.listAddons({})))
      for (const list of lists) assert.equal(list.length, catalogue.length)
    },
  ],
  [
    'gives up when its signal has been aborted',
    async ({ provider }) => {
      await refusalOf(() => provider.listAddons({ signal: AbortSignal.abort() }), ['provider_unavailable'])
    },
  ],
]
