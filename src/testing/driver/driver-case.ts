import type { DocumentDriver } from '../../stores/document/document-driver.ts'

/** A driver under test. */
export interface DriverUnderTest {
  /** The driver, on an empty table. */
  readonly driver: DocumentDriver
  /** Opens the same table over another connection, as another process would. */
  another(): Promise<DocumentDriver>
  /** Waits for at least `ms` milliseconds, up to a second, or moves the database's clock forward. */
  pass(ms: number): Promise<void>
  /** Closes everything that `create` and `another` opened. Called once, even if the case fails. */
  close(): Promise<void>
}

/** A case of the contract: a name, and a test that gets a driver on an empty table. */
export type DriverCase = readonly [name: string, body: (test: DriverUnderTest) => Promise<void>]
