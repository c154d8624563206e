import { createChanges } from '../shell/signal.ts'

/** All of the site's exposed options, by name. */
export type SiteOptions = Readonly<Record<string, unknown>>

/** Edits by option name. An edit of an object contains only the edited keys. */
export type Edits = Readonly<Record<string, unknown>>

/** Why the last save was refused. */
export interface Refusal {
  /** A sentence for the user. Undefined if a notice already says it. */
  readonly reason?: string | undefined
  /** The server's messages about values that it refused, by `option.key`. */
  readonly problems: Readonly<Record<string, string>>
  /** The values that another user has changed, by `option.key`, so that the user has to decide. */
  readonly conflict?: readonly string[]
  /** Whether the browser was offline. */
  readonly isOffline?: boolean
}

/**
 * Creates an empty draft, which keeps unsaved edits while the user switches tabs.
 *
 * @param stored Returns the options as they were last read.
 */
export function createOptionDraft(stored: () => SiteOptions) {
  const { tell, subscribe } = createChanges()
  let edits: Edits = {}
  let refusal: Refusal | undefined
  let isSending = false
  const isDirty = () => Object.keys(edits).length > 0

  function become(next: Edits, nextRefusal?: Refusal): void {
    // During a save, a value that equals the stored one is still an edit, because the save is about to replace it.
    edits = isSending ? next : differences(stored(), next)
    refusal = isDirty() ? nextRefusal : undefined
    tell()
  }

  return {
    edits: () => edits,
    isDirty,
    /** Whether a save is under way. */
    isSending: () => isSending,
    refusal: () => refusal,
    /** Records an edit. Restoring the stored value removes it. */
    edit(name: string, value: unknown): void {
      const whole = isRecord(stored()[name]) ? edited(edits[name], value) : value
      const problems = Object.entries(refusal?.problems ?? {}).filter(([path]) => !isPathIn(name, path))
      become({ ...edits, [name]: whole }, refusal && { ...refusal, problems: Object.fromEntries(problems) })
    },
    /** Removes all edits, or only those of some values, named by `option.key`. */
    discard: (paths?: readonly string[]) => become(paths ? without(edits, paths) : {}),
    /** Returns the edits to save, which must then be settled or refused. */
    send(): Edits {
      isSending = true
      become(edits)
      return edits
    },
    /** Removes edits that have been saved, but keeps later ones. */
    settle(sent: Edits): void {
      isSending = false
      become(Object.fromEntries(Object.entries(edits).filter(([name, edit]) => edit !== sent[name])))
    },
    /** Keeps all edits, because they were not saved. */
    refuse(next: Refusal): void {
      isSending = false
      become(edits, next)
    },
    subscribe,
  }
}

/** Merges an edit into a value. */
export function edited(value: unknown, edit: unknown): unknown {
  if (edit === undefined) return value
  return isRecord(value) && isRecord(edit) ? { ...value, ...edit } : edit
}

/** Checks whether a path such as `option.key` belongs to an option. */
export function isPathIn(option: string, path: string): boolean {
  return path === option || path.startsWith(`${option}.`)
}

/** Checks whether two values are the same as JSON. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Checks whether a value is an object that can be edited by key. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function without(edits: Edits, paths: readonly string[]): Edits {
  const isKept = (path: string) => !paths.includes(path)
  const kept = Object.entries(edits).map(([name, edit]) => {
    if (!isRecord(edit)) return [name, isKept(name) ? edit : undefined]
    return [name, Object.fromEntries(Object.entries(edit).filter(([key]) => isKept(`${name}.${key}`)))]
  })
  return Object.fromEntries(kept)
}

/** Returns the edits without the values that are stored already. */
function differences(stored: SiteOptions, edits: Edits): Edits {
  const all = Object.entries(edits).map(([name, edit]) => [name, difference(stored[name], edit)] as const)
  return Object.fromEntries(all.filter(([, edit]) => edit !== undefined))
}

function difference(stored: unknown, edit: unknown): unknown {
  if (!isRecord(stored) || !isRecord(edit)) return isSame(stored, edit) ? undefined : edit
  const keys = Object.entries(edit).filter(([key, value]) => !isSame(stored[key], value))
  return keys.length > 0 ? Object.fromEntries(keys) : undefined
}
