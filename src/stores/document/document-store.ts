import { consoleLogger, type Logger, safeLogger } from '../../ground/logger.ts'
import { requireMethods, requireOptions, requireWhole } from '../../ground/option-checks.ts'
import type { SessmgrStore } from '../store.ts'
import type { DocumentDriver } from './document-driver.ts'
import { DocumentRows, type RowsOptions } from './document-rows.ts'
import { DocumentSessionRegistry } from './document-session-registry.ts'
import {
  DocumentLogoutEpoch,
  DocumentOptionStore,
  DocumentPasswordStore,
  DocumentPeopleIndex,
  DocumentTransientStore,
} from './document-values.ts'
import type { RowDriver } from './row-reads.ts'

/** Options of documentStore(). Omitted and undefined options use their defaults. */
export interface DocumentStoreOptions {
  /** How many milliseconds a statement may take, from 10 to 60,000. @default 2000 */
  deadlineMs?: number | undefined
  /** Receives warnings. @default the console */
  logger?: Logger | undefined
}

/** How many statements of the index of people may hang. Each holds a connection of the application's pool. */
const MOST_LATE = 2
const OPTIONS = ['deadlineMs', 'logger']

/**
 * Creates a store in a database that you connect with a driver, for any number of processes.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option, or a driver without a method.
 * @example
 * app.use(sessmgr({ store: documentStore(myDriver) }))
 */
export function documentStore(driver: DocumentDriver, options: DocumentStoreOptions = {}): SessmgrStore {
  requireMethods('driver', driver, ['get', 'swap', 'purge', 'wipe'])
  if (driver.signals !== undefined) requireMethods('driver.signals', driver.signals, ['publish', 'subscribe'])
  requireOptions('documentStore', options, OPTIONS)
  const { deadlineMs = 2000, logger = consoleLogger } = options
  requireWhole('deadlineMs', deadlineMs, 10, 60_000)
  return {
    ...storeOf(driver, { deadlineMs }, safeLogger(logger)),
    name: 'document',
    // With its own deadline and limit, so that a hanging index delays nothing else and leaves connections free.
    people: new DocumentPeopleIndex(new DocumentRows(driver, { deadlineMs, mostLate: MOST_LATE })),
  }
}

/** Creates the parts of a store whose data are rows. */
export function storeOf(driver: RowDriver, options: RowsOptions, logger: Logger) {
  const rows = new DocumentRows(driver, options)
  const sessions = new DocumentSessionRegistry(rows, logger, driver.clock)
  return {
    local: driver.local ?? false,
    sessions,
    epoch: new DocumentLogoutEpoch(rows),
    options: new DocumentOptionStore(rows),
    passwords: new DocumentPasswordStore(rows),
    transients: new DocumentTransientStore(rows),
    signals: driver.signals,
    wipe: () => rows.wipe(),
    async close() {
      await sessions.close()
      await driver.close?.()
    },
  }
}
