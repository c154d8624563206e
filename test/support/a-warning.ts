import { expect } from 'vitest'
import type { Warning } from '../../src/ground/help.ts'

/** Matches the log line of a warning, with these words in it. Some test must provoke each warning with this. */
export const aWarning = (name: Warning, words = /^/): unknown =>
  expect.stringMatching(new RegExp(`${words.source}[^]* See \\S+#${name}$`))
