import { createChanges, createSignal, type Signal } from '../shell/signal.ts'

/** Edits by option name. An edit of an object contains only the edited keys. */
export type Edits = Readonly<Record<string, unknown>>

/** Keeps unsaved edits while the user switches tabs. */
interface OptionDraft {
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
  const { tell, subscribe } = createChanges()
  let edits: Edits = {}
  let sending: Edits = {}
  let problems: Readonly<Record<string, string>> = {}

  function become(next: Edits, nextProblems: Readonly<Record<string, string>>): void {
    edits = next
    problems = nextProblems
    tell()
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
    subscribe,
  }
}

/** Merges an edit into the stored value. */
export function edited(stored: unknown, edit: unknown): unknown {
  if (edit === undefined) return stored
  return isRecord(stored) && isRecord(edit) ? { ...stored, ...edit } : edit
}

/**
 * Returns the fields of a value that differ from the stored fields or are being saved in `sent`, or undefined if there
 * are none.
 */
function difference(stored: unknown, value: unknown, sent?: unknown): unknown {
  if (!isRecord(stored) || !isRecord(value)) return isSame(stored, value) && sent === undefined ? undefined : value
  const keys = Object.entries(value).filter(
    ([key, one]) => !isSame(stored[key], one) || (isRecord(sent) && key in sent),
  )
  return keys.length > 0 ? Object.fromEntries(keys) : undefined
}

/** All of the site's exposed options, by name. */
export type SiteOptions = Readonly<Record<string, unknown>>

/** The options, with a tag for detecting later changes. */
export interface ReadOptions {
  readonly body: SiteOptions
  readonly tag: string | undefined
}

/** A value that has changed. */
export interface OptionChange {
  readonly option: string
  /** Key in the option, or an empty string for the whole option. */
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

/** Lists the differences between two reads of the options. */
export function optionChanges(before: SiteOptions, after: SiteOptions): readonly OptionChange[] {
  return Object.keys(after).flatMap((option) => {
    const [old, now] = [keysOf(before[option]), keysOf(after[option])]
    return Object.keys(now)
      .filter((key) => !isSame(old[key], now[key]))
      .map((key) => ({ option, key, before: old[key], after: now[key] }))
  })
}

/**
 * Returns the user's edit that conflicts with a change. Undefined if there is none, or if the edit and
 * the change lead to the same value.
 */
export function editOf(edits: Edits, { option, key, after }: OptionChange): { readonly value: unknown } | undefined {
  const own = keysOf(edits[option])
  return option in edits && key in own && !isSame(own[key], after) ? { value: own[key] } : undefined
}

function keysOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : { '': value }
}

const MARK_MS = 10_000

/** Edits that conflict with changes of another user. */
export interface Conflict {
  readonly changes: readonly OptionChange[]
  readonly newest: ReadOptions
  /** The options as the user saw them when saving. */
  readonly known: ReadOptions
}

/** The state of the last save. */
interface Saving {
  /** Why the last save failed. */
  readonly failure: Signal<string | undefined>
  readonly conflict: Signal<Conflict | undefined>
  /** The `option.key` of each value that is highlighted because another user has changed it. */
  readonly marked: Signal<readonly string[]>
  mark(changes: readonly OptionChange[]): void
}

/** Creates the state of the last save. */
export function createSaving(): Saving {
  const marked = createSignal<readonly string[]>([])
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    failure: createSignal<string | undefined>(undefined),
    conflict: createSignal<Conflict | undefined>(undefined),
    marked,
    mark(changes) {
      clearTimeout(timer)
      marked.become(changes.map(({ option, key }) => `${option}.${key}`))
      timer = setTimeout(() => marked.become([]), MARK_MS)
    },
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
