import { afterAll } from 'vitest'

/** Keeps what is started while a test file loads until its tests have finished. */
export async function forThisFile<T extends { close(): unknown }>(starting: Promise<T>): Promise<T> {
  const started = await starting
  afterAll(async () => void (await started.close()))
  return started
}
