/**
 * Registers one case of a contract, which gets something fresh to try, closed afterwards also when the case fails.
 *
 * @param it The test runner's own.
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
