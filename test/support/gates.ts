/** A point at which a request waits until the test lets it continue. */
export interface Gate {
  /** Resolves when a request waits at the gate. */
  readonly arrived: Promise<void>
  /** Lets all requests through, now and later. */
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

/** Creates a closed gate. */
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
