/** Edits by option name: of an object only the keys that were edited. */
export type Edits = Readonly<Record<string, unknown>>

/** Keeps what has been edited and not yet saved, whichever tab is open. */
export interface OptionDraft {
  edits(): Edits
  isDirty(): boolean
  /** What the server said of values that it refused, by `option.key`. */
  problems(): Readonly<Record<string, string>>
  /** Gives the edits to be saved. Until they are settled or refused, what leads back to what is stored is an edit too. */
  send(): Edits
  /** Notes an edit; one that leads back to what is stored is none. */
  edit(name: string, stored: unknown, value: unknown): void
  discard(): void
  /** Forgets what was sent and is stored now; what was edited meanwhile stays. */
  settle(sent: Edits, stored: Readonly<Record<string, unknown>>): void
  refuse(problems: Readonly<Record<string, string>>): void
  subscribe(listener: () => void): () => void
}

/** Creates an empty draft. */
export function createOptionDraft(): OptionDraft {
  const listeners = new Set<() => void>()
  let edits: Edits = {}
  let sending: Edits = {}
  let problems: Readonly<Record<string, string>> = {}

  function become(next: Edits, nextProblems: Readonly<Record<string, string>>): void {
    edits = next
    problems = nextProblems
    for (const listener of listeners) listener()
  }

  return {
    edits: () => edits,
    isDirty: () => Object.keys(edits).length > 0,
    problems: () => problems,
    send: () => {
      sending = edits
      return edits
    },
    edit(name, stored, value) {
      const { [name]: before, ...others } = edits
      const whole = isRecord(stored) && isRecord(value) ? { ...(before as object), ...value } : value
      const edit = difference(stored, whole, sending[name])
      const kept = Object.entries(problems).filter(([key]) => key !== name && !key.startsWith(`${name}.`))
      become(edit === undefined ? others : { ...others, [name]: edit }, Object.fromEntries(kept))
    },
    discard: () => become({}, {}),
    settle(sent, stored) {
      sending = {}
      const left = Object.entries(edits).flatMap(([name, edit]) => {
        const rest = sent[name] === edit ? undefined : difference(stored[name], edit)
        return rest === undefined ? [] : [[name, rest] as const]
      })
      become(Object.fromEntries(left), {})
    },
    refuse: (next) => {
      sending = {}
      become(edits, next)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Lays an edit over what is stored. */
export function edited(stored: unknown, edit: unknown): unknown {
  if (edit === undefined) return stored
  return isRecord(stored) && isRecord(edit) ? { ...stored, ...edit } : edit
}

/** What of a value is not as stored, or will not be once what is `sent` is stored; undefined when all is. */
function difference(stored: unknown, value: unknown, sent?: unknown): unknown {
  if (!isRecord(stored) || !isRecord(value)) return same(stored, value) && sent === undefined ? undefined : value
  const keys = Object.entries(value).filter(([key, one]) => !same(stored[key], one) || (isRecord(sent) && key in sent))
  return keys.length > 0 ? Object.fromEntries(keys) : undefined
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
