import { expect, it } from 'vitest'
import { useInterleavedStores } from '../support/interleaved-stores.ts'
import { runInterleavings } from '../support/interleavings.ts'
import { printFigures } from '../support/print-figures.ts'

const stores = useInterleavedStores()

it.each(Object.entries(stores))(
  'rule 5: 500 random interleavings of logins, choices, ends, uses and site-wide logouts never exceed the limit, over %s',
  async (name, open) => {
    const { faults, ...figures } = await runInterleavings(open(), 500, 1000)
    printFigures(name, figures)
    expect(faults).toEqual([])
  },
)
