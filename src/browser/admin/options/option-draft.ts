/** Edits by option name. For an object, only the edited keys. */
export type Edits = Readonly<Record<string, unknown>>

/** Keeps unsaved edits while the user switches tabs. */
export interface OptionDraft {
  edits(): Edits
  isDirty(): boolean
  /** The server's messages about values that it refused, by `option.key`. */
  problems(): Readonly<Record<string, string>>
  /** Returns the edits to save. Until they are settled or refused, restoring a stored value counts as an edit. */
  send(): Edits
  /** Records an edit. Restoring the stored value removes it. */
  edit(name: string, stored: unknown, value: unknown): void
  discard(): void
  /** Removes edits that have been saved, but keeps later ones. */
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

/** Merges an edit into the stored value. */
export function edited(stored: unknown, edit: unknown): unknown {
  if (edit === undefined) return stored
  return isRecord(stored) && isRecord(edit) ? { ...stored, ...edit } : edit
}

/**
 * Returns the fields of a value that differ from the stored fields or are being saved in `sent`. Returns undefined if
 * there are no such fields.
 */
function difference(stored: unknown, value: unknown, sent?: unknown): unknown {
  if (!isRecord(stored) || !isRecord(value)) return same(stored, value) && sent === undefined ? undefined : value
  const keys = Object.entries(value).filter(([key, one]) => !same(stored[key], one) || (isRecord(sent) && key in sent))
  return keys.length > 0 ? Object.fromEntries(keys) : undefined
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
