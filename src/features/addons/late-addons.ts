import type { Addons } from './addons.ts'

/** Returns add-ons whose code is loaded by the first call. */
export function lateAddons(load: () => Promise<Addons>): Addons {
  let loading: Promise<Addons> | undefined
  const loaded = () => {
    loading ??= load()
    return loading
  }
  return {
    list: async () => (await loaded()).list(),
    refresh: async () => (await loaded()).refresh(),
    activate: async (productId, key) => (await loaded()).activate(productId, key),
    deactivate: async (productId) => (await loaded()).deactivate(productId),
    isLicensed: async (productId) => (await loaded()).isLicensed(productId),
  }
}
