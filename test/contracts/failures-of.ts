import { type DriverUnderTest, registerDocumentDriverContract } from '../../src/testing.ts'

interface Runner {
  describe(name: string, body: () => void): void
  it(name: string, body: () => Promise<void>): void
}

/** Runs the cases of a contract at once, and returns why those failed that did, by name. */
export async function failuresOf(
  register: (runner: Runner) => void,
  leftOut: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> {
  const cases: [name: string, body: () => Promise<void>][] = []
  register({ describe: (_, body) => body(), it: (name, body) => void cases.push([name, body]) })
  if (cases.length === 0) throw new Error('The contract has no cases.')
  const failures: Record<string, string> = {}
  const run = async ([name, body]: (typeof cases)[0]) => {
    await body().catch((error: Error) => {
      failures[name] = error.message
    })
  }
  await Promise.all(cases.filter(([name]) => !leftOut.includes(name)).map(run))
  return failures
}

/** Runs the public contract of drivers, and returns why cases failed. */
export const driverFailures = (create: () => Promise<DriverUnderTest>, leftOut: readonly string[] = []) =>
  failuresOf((runner) => registerDocumentDriverContract({ ...runner, create }), leftOut)
