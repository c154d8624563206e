import { consoleLogger } from '../../src/ground/logger.ts'
import { createTextsFor } from '../../src/texts/texts-for.ts'

/** Returns the texts of an application that has replaced none. */
export const english = createTextsFor(undefined, consoleLogger)().say
