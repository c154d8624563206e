import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { sources } from '../vitest.config.ts'

/** Unit tests come first: they are fast, and a mistake is judged by the first test that fails. */
class UnitsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => (one.moduleId < other.moduleId ? 1 : -1))
  }
}

/** The tests that judge the mistakes of a folder; see `mutation.mjs`. */
export default defineConfig({
  ...sources,
  test: {
    include: process.env.MUTATION_TESTS?.split(' ') ?? [],
    sequence: { sequencer: UnitsFirst },
    testTimeout: 8_000,
    // Loading the modules for each file would take most of the time.
    isolate: false,
  },
})
