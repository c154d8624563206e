import { expect, it } from 'vitest'
import { useInterleavedStores } from '../../support/interleaved-stores.ts'
import { runInterleavings } from '../../support/interleavings.ts'

const stores = useInterleavedStores()

it.each(Object.entries(stores))(
  'rule 5: random logins, choices, ends and uses never exceed the limit, over %s',
  async (_, open) => {
    const { faults, idle, chosen, ...figures } = await runInterleavings(open(), 30)
    expect(faults).toEqual([])
    for (const [what, count] of Object.entries(figures)) expect(count, `none: ${what}`).toBeGreaterThan(0)
    expect(idle + chosen).toBeGreaterThan(0)
  },
)
