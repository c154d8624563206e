import type { ServiceCore } from '../service/service-core.ts'

/** Makes what finds the guard of a session store, putting one up if the service has none there yet. */
export function guardOnce<Store extends object, Guarded>(
  putUp: (core: ServiceCore, store: Store) => Guarded,
): (core: ServiceCore, store: Store) => Guarded {
  const known = new WeakMap<Store, { readonly core: ServiceCore; readonly guarded: Guarded }>()
  return (core, store) => {
    const found = known.get(store)
    if (found?.core === core) return found.guarded
    const guarded = putUp(core, store)
    known.set(store, { core, guarded })
    return guarded
  }
}
