/**
 * Registers a case of a contract. Each case gets a new test object, which is closed afterwards even if the case fails.
 *
 * @param it `it` of the test runner.
 */
export function registerCase<Test extends { close(): Promise<void> }>(
  it: (name: string, body: () => Promise<void>) => unknown,
  create: () => Promise<Test>,
  name: string,
  body: (test: Test) => Promise<void>,
): void {
  it(name, async () => {
    const test = await create()
    try {
      await body(test)
    } finally {
      await test.close()
    }
  })
}
