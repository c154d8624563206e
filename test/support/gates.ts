/** A point in a request at which it waits until the test lets it go on. */
export interface Gate {
  /** Resolves when a request stands at the gate. */
  readonly arrived: Promise<void>
  /** Lets everything through, now and later. */
  open(): void
  /** Waits at the gate. */
  pass(): Promise<void>
}

/** The gates of one application, by name. */
export class Gates {
  readonly #gates = new Map<string, Gate>()

  at(name: string): Gate {
    const known = this.#gates.get(name) ?? createGate()
    this.#gates.set(name, known)
    return known
  }
}

/** Creates a gate that is closed. */
export function createGate(): Gate {
  let arrive = () => {}
  let open = () => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return {
    arrived,
    open: () => open(),
    pass() {
      arrive()
      return opened
    },
  }
}
