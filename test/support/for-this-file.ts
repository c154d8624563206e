import { afterAll } from 'vitest'

/** Keeps what is started while a test file is read until its tests are over. */
export async function forThisFile<T extends { close(): unknown }>(starting: Promise<T>): Promise<T> {
  const started = await starting
  afterAll(async () => void (await started.close()))
  return started
}
