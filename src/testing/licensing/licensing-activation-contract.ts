import assert from 'node:assert/strict'
import { activated, assertHidden, type LicensingCase, refusalOf, SITE } from './licensing-case.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Requirements on activation and deactivation. */
export const activationContract: readonly LicensingCase[] = [
  [
    'activates a valid key and returns its product, key and site',
    async ({ provider, products: [productId], issue }) => {
      const key = await issue(productId)
      const activation = await provider.activate({ productId, key, site: SITE })
      assert.deepEqual([activation.productId, activation.key, activation.uid], [productId, key, SITE.uid])
    },
  ],
  [
    'returns the time of activation and, if known, of expiry',
    async (test) => {
      const { activatedAt, expiresAt } = await activated(test)
      assert.match(activatedAt, ISO)
      assert.ok(expiresAt === null || ISO.test(expiresAt))
    },
  ],
  [
    'returns the installation and the plan, each as a string or null',
    async (test) => {
      const { installId, plan } = await activated(test)
      for (const value of [installId, plan]) assert.ok(value === null || (typeof value === 'string' && value !== ''))
    },
  ],
  [
    'returns an activation that is plain JSON',
    async (test) => {
      const activation = await activated(test)
      assert.deepEqual(JSON.parse(JSON.stringify(activation)), activation)
    },
  ],
  [
    'includes no secret of the backend in the activation',
    async (test) => {
      assertHidden(await activated(test), test.secrets)
    },
  ],
  [
    'activates a site without a title',
    async ({ provider, products: [productId], issue }) => {
      const { title: _title, ...site } = SITE
      const key = await issue(productId)
      assert.equal((await provider.activate({ productId, key, site })).key, key)
    },
  ],
  [
    'activates again with the previous activation, and keeps the installation',
    async (test) => {
      const previous = await activated(test)
      const { productId, key } = previous
      const again = await test.provider.activate({ productId, key, site: SITE, previous })
      assert.deepEqual([again.key, again.installId, again.plan], [key, previous.installId, previous.plan])
    },
  ],
  [
    'activates a key with a stored copy of the previous activation',
    async (test) => {
      const previous = JSON.parse(JSON.stringify(await activated(test)))
      const key = await test.issue(previous.productId)
      const again = await test.provider.activate({ productId: previous.productId, key, site: SITE, previous })
      assert.deepEqual([again.key, again.installId], [key, previous.installId])
    },
  ],
  [
    'activates licenses of two products concurrently and independently',
    async (test) => {
      const [one, two] = await Promise.all(test.products.map((productId) => activated(test, productId)))
      assert.deepEqual([one?.productId, two?.productId], test.products)
      assert.notEqual(one?.key, two?.key)
    },
  ],
  [
    'deactivates, and returns undefined',
    async (test) => {
      const activation = await activated(test)
      const { productId } = activation
      assert.equal(await test.provider.deactivate({ productId, activation, site: SITE }), undefined)
    },
  ],
  [
    'deactivates with a stored copy of the activation',
    async (test) => {
      const activation = JSON.parse(JSON.stringify(await activated(test)))
      await test.provider.deactivate({ productId: activation.productId, activation, site: SITE })
    },
  ],
  [
    'accepts a second deactivation',
    async (test) => {
      const activation = await activated(test)
      const { productId } = activation
      for (let time = 0; time < 2; time++) await test.provider.deactivate({ productId, activation, site: SITE })
    },
  ],
  [
    'releases the seat, so that the same key can be activated again',
    async (test) => {
      const activation = await activated(test)
      const { productId, key } = activation
      await test.provider.deactivate({ productId, activation, site: SITE })
      assert.equal((await test.provider.activate({ productId, key, site: SITE })).key, key)
    },
  ],
  [
    'rejects when its signal is aborted',
    async (test) => {
      const { provider, products, issue } = test
      const [productId] = products
      const [activation, key] = [await activated(test), await issue(productId)]
      const call = { productId, site: SITE, signal: AbortSignal.abort() }
      await refusalOf(() => provider.activate({ ...call, key }), ['provider_unavailable'])
      await refusalOf(() => provider.deactivate({ ...call, activation }), ['provider_unavailable'])
    },
  ],
]
