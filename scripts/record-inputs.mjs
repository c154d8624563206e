import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Writes the list of a bundle's inputs to dist/ under a unique name, because tsup would use the same name for two
 * bundles.
 */
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
