import { withDeadline } from '../ground/deadline.ts'
import { messageOf } from '../ground/error-text.ts'
import { SessmgrError } from '../ground/errors.ts'
import { hookFinder, type Subscriber } from './hook-finder.ts'
import type { ActionMap, FilterMap, HookCatalogue } from './hook-types.ts'

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
  /** Counts how often an action has fired. */
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
  /** Counts how often a filter has been applied. */
  didFilter(name: keyof Filters & string): number
  /**
   * Passes a value through the subscribers of a filter, one after the other.
   *
   * @throws SessmgrError `hook_failed` if a subscriber throws or returns undefined, `hook_timeout` if it is too slow.
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

/** Creates an empty bus for the hooks of a catalogue. */
export function createHookBus<Actions extends ActionMap<Actions>, Filters extends FilterMap<Filters>>(
  options: HookBusOptions,
): HookBus<Actions, Filters> {
  const action = hookFinder('action', Object.keys(options.catalogue.actions))
  const filter = hookFinder('filter', Object.keys(options.catalogue.filters))

  /** Returns the result of a subscriber, or a promise of it. Every failure becomes a SessmgrError. */
  function call(hook: string, { namespace, callback }: Subscriber, parameters: readonly unknown[]): unknown {
    const where = `The subscriber "${namespace}" to "${hook}"`
    const failure = (cause: unknown) =>
      new SessmgrError('hook_failed', `${where} failed: ${messageOf(cause)}`, { cause })
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

  return {
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
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
