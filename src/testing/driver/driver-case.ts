import type { DocumentDriver } from '../../stores/document/document-driver.ts'

/** A driver under test. */
export interface DriverUnderTest {
  /** The driver, on an empty table. */
  readonly driver: DocumentDriver
  /** Opens the same table over another connection, as another process would. */
  another(): Promise<DocumentDriver>
  /** Lets at least so many milliseconds, up to a second, pass for the database: moves its clock, or waits. */
  pass(ms: number): Promise<void>
  /** Closes everything that `create` and `another` opened. Called once, also when the case fails. */
  close(): Promise<void>
}

/** A case of the contract: a name, and what must hold for a driver on an empty table. */
export type DriverCase = readonly [name: string, body: (test: DriverUnderTest) => Promise<void>]
