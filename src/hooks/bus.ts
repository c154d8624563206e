import { withDeadline } from '../ground/deadline.ts'
import { messageOf, SessmgrError } from '../ground/errors.ts'
import { nearestName } from '../ground/option-checks.ts'

/** Maps each action name to the parameters of its subscribers. */
export type ActionMap<T> = { [K in keyof T]: readonly unknown[] }

/** Describes a filter: its value and further parameters. */
export interface FilterShape<Value, Parameters extends readonly unknown[] = []> {
  /** The value that subscribers receive and return. */
  value: Value
  /** Further parameters, after the value. */
  parameters: Parameters
}

/** Maps each filter name to its shape. */
export type FilterMap<T> = { [K in keyof T]: FilterShape<unknown, readonly unknown[]> }

/** Documents one hook. */
export interface HookEntry {
  /** Names of the parameters in order. The first parameter of a filter is the value. */
  readonly parameters: readonly string[]
  /** When the hook fires, or what it decides, in one sentence. */
  readonly summary: string
}

/** All hooks of a bus, by name. */
export interface HookCatalogue {
  /** Actions by name. */
  readonly actions: Readonly<Record<string, HookEntry>>
  /** Filters by name. */
  readonly filters: Readonly<Record<string, HookEntry>>
}

/**
 * Connects add-ons: actions report events to them, and filters let them change a value.
 *
 * Every method throws a SessmgrError with the code `hook_misuse` if the name is unknown.
 */
export interface HookBus<Actions extends ActionMap<Actions>, Filters extends FilterMap<Filters>> {
  /**
   * Subscribes to an action.
   *
   * @param namespace Identifies the subscriber, so that it can be removed.
   * @param priority Lower runs first; subscribers of equal priority run in order of registration. Default 10.
   * @returns A function that removes this subscriber.
   * @throws SessmgrError `hook_misuse` for an unknown name, or an invalid namespace, priority or callback.
   */
  addAction<K extends keyof Actions & string>(
    name: K,
    namespace: string,
    callback: (...parameters: Actions[K]) => unknown,
    priority?: number,
  ): () => void
  /** Removes all subscribers of a namespace from an action, and returns how many there were. */
  removeAction(name: keyof Actions & string, namespace: string): number
  /** Checks whether an action has a subscriber, in one namespace or in any. */
  hasAction(name: keyof Actions & string, namespace?: string): boolean
  /** Returns how often an action has fired. */
  didAction(name: keyof Actions & string): number
  /**
   * Fires an action. Subscribers run one after the other, synchronously up to the first asynchronous one.
   *
   * If a subscriber throws, its error is logged and the next one runs.
   *
   * @throws SessmgrError `hook_misuse` for an unknown name. Does not reject for any other reason.
   */
  doAction<K extends keyof Actions & string>(name: K, ...parameters: Actions[K]): Promise<void>

  /**
   * Subscribes to a filter. The callback receives the value and returns the new value, or a promise of it.
   *
   * @param namespace Identifies the subscriber, so that it can be removed.
   * @param priority Lower runs first; subscribers of equal priority run in order of registration. Default 10.
   * @returns A function that removes this subscriber.
   * @throws SessmgrError `hook_misuse` for an unknown name, or an invalid namespace, priority or callback.
   */
  addFilter<K extends keyof Filters & string>(
    name: K,
    namespace: string,
    callback: (
      value: Filters[K]['value'],
      ...parameters: Filters[K]['parameters']
    ) => Filters[K]['value'] | Promise<Filters[K]['value']>,
    priority?: number,
  ): () => void
  /** Removes all subscribers of a namespace from a filter, and returns how many there were. */
  removeFilter(name: keyof Filters & string, namespace: string): number
  /** Checks whether a filter has a subscriber, in one namespace or in any. */
  hasFilter(name: keyof Filters & string, namespace?: string): boolean
  /** Returns how often a filter has been applied. */
  didFilter(name: keyof Filters & string): number
  /**
   * Passes a value through the subscribers of a filter, one after the other.
   *
   * @throws SessmgrError `hook_failed` if a subscriber throws or returns undefined, `hook_timeout` if it is too slow,
   * `store_unavailable` if a subscriber failed because sessmgr's store is unavailable.
   */
  applyFilters<K extends keyof Filters & string>(
    name: K,
    value: Filters[K]['value'],
    ...parameters: Filters[K]['parameters']
  ): Promise<Filters[K]['value']>
}

export interface HookBusOptions {
  readonly catalogue: HookCatalogue
  /** How many milliseconds each asynchronous subscriber may take. */
  readonly deadlineMs: number
  /** Receives the errors of action subscribers. */
  readonly onError: (error: SessmgrError) => void
}

/** Checks whether a subscriber failed because it could not reach sessmgr's store, which is no fault of its own. */
function isAway(cause: unknown): cause is SessmgrError {
  return cause instanceof SessmgrError && cause.code === 'store_unavailable'
}

/** Creates an empty bus for the hooks of a catalogue. */
export function createHookBus<Actions extends ActionMap<Actions>, Filters extends FilterMap<Filters>>(
  options: HookBusOptions,
): HookBus<Actions, Filters> {
  const [actions, filters] = [Object.keys(options.catalogue.actions), Object.keys(options.catalogue.filters)]
  const misuse = (message: string) => new SessmgrError('hook_misuse', message)
  const action = hookFinder('action', actions, misuse, filters)
  const filter = hookFinder('filter', filters, misuse, actions)

  /** Returns the result of a subscriber, or a promise of it. Every failure becomes a SessmgrError. */
  function call(hook: string, { namespace, callback }: Subscriber, parameters: readonly unknown[]): unknown {
    const where = `The subscriber "${namespace}" to "${hook}"`
    const failure = (cause: unknown) =>
      new SessmgrError(isAway(cause) ? cause.code : 'hook_failed', `${where} failed: ${messageOf(cause)}`, { cause })
    const tooSlow = () => new SessmgrError('hook_timeout', `${where} did not respond within ${options.deadlineMs} ms.`)
    try {
      const result = callback(...parameters)
      if (!isPromiseLike(result)) return result
      const answer = Promise.resolve(result).catch((cause) => Promise.reject(failure(cause)))
      return withDeadline(answer, options.deadlineMs, tooSlow)
    } catch (cause) {
      throw failure(cause)
    }
  }

  const bus: HookBus<Actions, Filters> = {
    addAction: (name, namespace, callback, priority = 10) => action(name).add({ namespace, callback, priority }),
    removeAction: (name, namespace) => action(name).remove(namespace),
    hasAction: (name, namespace) => action(name).has(namespace),
    didAction: (name) => action(name).runs,
    async doAction(name, ...parameters) {
      const hook = action(name)
      hook.runs += 1
      for (const subscriber of hook.subscribers) {
        try {
          const result = call(name, subscriber, parameters)
          if (isPromiseLike(result)) await result
        } catch (error) {
          options.onError(error as SessmgrError)
        }
      }
    },
    addFilter: (name, namespace, callback, priority = 10) => filter(name).add({ namespace, callback, priority }),
    removeFilter: (name, namespace) => filter(name).remove(namespace),
    hasFilter: (name, namespace) => filter(name).has(namespace),
    didFilter: (name) => filter(name).runs,
    async applyFilters(name, value, ...parameters) {
      const hook = filter(name)
      hook.runs += 1
      let current: unknown = value
      for (const subscriber of hook.subscribers) {
        current = await call(name, subscriber, [current, ...parameters])
        if (current === undefined) {
          const message = `The subscriber "${subscriber.namespace}" to "${name}" returned undefined. A filter must return the value.`
          throw new SessmgrError('hook_failed', message)
        }
      }
      return current as typeof value
    },
  }
  finders.set(bus, { action, filter })
  return bus
}

/** Functions that find the hooks of each bus. */
const finders = new WeakMap<object, Readonly<Record<'action' | 'filter', (name: string) => Hook>>>()

/** If a hook has no subscribers, counts a run and returns true. */
function runsForNobody(bus: object, kind: 'action' | 'filter', name: string): boolean {
  const hook = finders.get(bus)?.[kind](name)
  if (!hook || hook.subscribers.length > 0) return false
  hook.runs += 1
  return true
}

/** Like `applyFilters`, but returns the value at once if there are no subscribers. A login applies many filters. */
export function filterAtOnce<Filters extends FilterMap<Filters>, K extends keyof Filters & string>(
  // biome-ignore lint/suspicious/noExplicitAny: the actions do not matter here.
  bus: HookBus<any, Filters>,
  name: K,
  value: Filters[K]['value'],
  ...parameters: Filters[K]['parameters']
): Filters[K]['value'] | Promise<Filters[K]['value']> {
  return runsForNobody(bus, 'filter', name) ? value : bus.applyFilters(name, value, ...parameters)
}

/** Like `doAction`, but returns undefined if there are no subscribers. */
export function fireAtOnce<Actions extends ActionMap<Actions>>(
  // biome-ignore lint/suspicious/noExplicitAny: the filters do not matter here.
  bus: HookBus<Actions, any>,
  name: string,
  parameters: readonly unknown[],
): Promise<void> | undefined {
  const fire = bus.doAction as (name: string, ...parameters: readonly unknown[]) => Promise<void>
  try {
    return runsForNobody(bus, 'action', name) ? undefined : fire(name, ...parameters)
  } catch (error) {
    return Promise.reject(error)
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

/** A callback that is subscribed to a hook. */
export interface Subscriber {
  readonly namespace: string
  readonly priority: number
  // biome-ignore lint/suspicious/noExplicitAny: only the bus is typed; here, parameters are opaque.
  readonly callback: (...parameters: any[]) => unknown
}

const NAMESPACE = /^[a-z][\w./-]*$/i

/** Creates the error for a misused hook from its message. */
type Misuse = (message: string) => Error

/** A hook and its subscribers, in the order in which they run. */
export class Hook {
  readonly #name: string
  readonly #misuse: Misuse
  /** Replaced on each change. A run in progress keeps its own array, so it never skips or repeats a subscriber. */
  subscribers: readonly Subscriber[] = []
  runs = 0

  constructor(name: string, misuse: Misuse) {
    this.#name = name
    this.#misuse = misuse
  }

  add(subscriber: Subscriber): () => void {
    const problem = problemWith(this.#name, subscriber)
    if (problem !== undefined) throw this.#misuse(problem)
    const index = this.subscribers.findIndex((other) => other.priority > subscriber.priority)
    this.subscribers = this.subscribers.toSpliced(index === -1 ? this.subscribers.length : index, 0, subscriber)
    return () => {
      this.subscribers = this.subscribers.filter((other) => other !== subscriber)
    }
  }

  remove(namespace: string): number {
    const before = this.subscribers.length
    this.subscribers = this.subscribers.filter((other) => other.namespace !== namespace)
    return before - this.subscribers.length
  }

  has(namespace?: string): boolean {
    return this.subscribers.some((other) => namespace === undefined || other.namespace === namespace)
  }
}

/** Returns a function that finds a hook by name. It throws the error from `misuse` if the name is unknown. */
export function hookFinder(
  kind: 'action' | 'filter',
  known: readonly string[],
  misuse: Misuse,
  otherKind: readonly string[] = [],
): (name: string) => Hook {
  const hooks = new Map(known.map((name) => [name, new Hook(name, misuse)]))
  // Prefixes of hook families, such as `pre_update_option_` for `pre_update_option_{name}`.
  const families = known.filter((name) => name.includes('{')).map((name) => name.slice(0, name.indexOf('{')))

  function addOfFamily(name: string): Hook {
    const isOne = (prefix: string) => typeof name === 'string' && name.startsWith(prefix) && name.length > prefix.length
    if (!families.some(isOne)) {
      throw misuse(`There is no ${kind} "${String(name)}".${hint(String(name))}`)
    }
    const hook = new Hook(name, misuse)
    hooks.set(name, hook)
    return hook
  }

  function hint(name: string): string {
    if (otherKind.includes(name))
      return kind === 'action' ? ' It is a filter: use addFilter.' : ' It is an action: use addAction.'
    const snake = name.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
    const near = nearestName(name, known) ?? nearestName(`sessmgr_${snake}`, known)
    if (near) return ` Did you mean "${near}"?`
    const other = nearestName(name, otherKind)
    return other ? ` Did you mean the ${kind === 'action' ? 'filter' : 'action'} "${other}"?` : ''
  }

  return (name) => hooks.get(name) ?? addOfFamily(name)
}

function problemWith(hook: string, { namespace, priority, callback }: Subscriber): string | undefined {
  if (typeof namespace === 'function') {
    return `The subscriber to "${hook}" has no namespace. Put a name before the callback, such as "my-app".`
  }
  if (typeof namespace !== 'string' || !NAMESPACE.test(namespace)) {
    return `The namespace of a subscriber to "${hook}" must start with a letter and contain only letters, digits, "_", "-", "." or "/".`
  }
  if (typeof callback !== 'function') return `The subscriber "${namespace}" to "${hook}" must be a function.`
  if (Number.isFinite(priority)) return undefined
  return `The priority of the subscriber "${namespace}" to "${hook}" must be a finite number.`
}
