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
    'lists all add-ons in order',
    async ({ provider, catalogue }) => {
      const addons = await provider.listAddons({})
      const shown = addons.map(({ id, slug, title, is_premium }) => ({ id, slug, title, is_premium }))
      assert.ok(catalogue.length >= 2)
      assert.deepEqual(shown, catalogue)
    },
  ],
  [
    'returns unique ids that are positive safe integers',
    async ({ provider }) => {
      const ids = (await provider.listAddons({})).map(({ id }) => id)
      for (const id of ids) assert.ok(Number.isSafeInteger(id) && id > 0)
      assert.equal(new Set(ids).size, ids.length)
    },
  ],
  [
    'returns all fields as strings, except an icon that may be null',
    async ({ provider }) => {
      for (const addon of await provider.listAddons({})) {
        for (const name of TEXTS) assert.equal(typeof addon[name], 'string', name)
        assert.ok(addon.icon === null || typeof addon.icon === 'string')
      }
    },
  ],
  [
    'marks premium add-ons with true and free ones with false',
    async ({ provider }) => {
      const premium = (await provider.listAddons({})).map(({ is_premium }) => is_premium)
      assert.ok(premium.includes(true) && premium.includes(false))
    },
  ],
  [
    'returns plain JSON, including the data of the backend',
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
    'returns the same list again, even if the caller has changed an earlier one',
    async ({ provider }) => {
      const first = await provider.listAddons({})
      const copy = structuredClone(first)
      Object.assign(first[0] as object, { title: 'changed' })
      ;(first as unknown[]).length = 1
      assert.deepEqual(await provider.listAddons({}), copy)
    },
  ],
  [
    'returns the same list if a fresh one is requested',
    async ({ provider }) => {
      assert.deepEqual(await provider.listAddons({ force: true }), await provider.listAddons({ force: false }))
    },
  ],
  [
    'handles parallel calls',
    async ({ provider, catalogue }) => {
      const lists = await Promise.all(Array.from({ length: 10 }, () => provider.listAddons({})))
      for (const list of lists) assert.equal(list.length, catalogue.length)
    },
  ],
  [
    'rejects when its signal is aborted',
    async ({ provider }) => {
      await refusalOf(() => provider.listAddons({ signal: AbortSignal.abort() }), ['provider_unavailable'])
    },
  ],
]
