/** A test of a suite, as it was registered. */
export interface RegisteredTest {
  readonly name: string
  readonly run: () => unknown
}

/** The tests registered so far. */
export const registered: RegisteredTest[] = []
const above: string[] = []
let closers: (() => unknown)[] = []

type Body = (...given: never[]) => unknown

/** Fills the values of a row into a name. */
function named(name: string, row: readonly unknown[]): string {
  const left = [...row]
  return name.replaceAll(/%[sdi]/g, () => String(left.shift()))
}

function each(register: (name: string, body: () => unknown) => void) {
  return (rows: readonly unknown[]) => (name: string, body: Body) => {
    for (const row of rows) {
      const given = Array.isArray(row) ? row : [row]
      register(named(name, given), () => body(...(given as never[])))
    }
  }
}

function group(name: string, body: () => unknown): void {
  above.push(name)
  body()
  above.pop()
}

function register(name: string, run: () => unknown): void {
  registered.push({ name: [...above, name].join(' > '), run })
}

export const describe = Object.assign(group, { each: each(group) })
export const test = Object.assign(register, { each: each(register) })

export const onTestFinished = (close: () => unknown): void => void closers.push(close)

/** Expects nothing: the oracle compares what is told, and the suite is run by vitest as well. */
export const expect = new Proxy(() => {}, {
  get: (_, name): unknown => (name === 'then' ? undefined : expect),
  apply: (): unknown => expect,
}) as unknown as (...given: unknown[]) => never

/** Runs a test, and closes what it has opened. */
export async function runTest({ run }: RegisteredTest): Promise<void> {
  try {
    await run()
  } finally {
    const opened = closers
    closers = []
    for (const close of opened.reverse()) await close()
  }
}
