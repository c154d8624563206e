import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Leaves the list of what went into a bundle in dist/, under a name of its own: tsup would give two bundles the same. */
export const recordInputs = (name) => ({
  name: 'record-inputs',
  setup({ initialOptions, onEnd }) {
    initialOptions.metafile = true
    onEnd(({ metafile }) => {
      if (!metafile) return
      const { inputs } = metafile
      const file = `../dist/metafile-${name}-${initialOptions.format}.json`
      writeFileSync(fileURLToPath(new URL(file, import.meta.url)), JSON.stringify({ inputs }))
    })
  },
})
