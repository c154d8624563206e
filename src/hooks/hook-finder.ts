import { SessmgrError } from '../ground/errors.ts'
import { nearestName } from '../ground/option-checks.ts'

/** A callback that is subscribed to a hook. */
export interface Subscriber {
  readonly namespace: string
  readonly priority: number
  // biome-ignore lint/suspicious/noExplicitAny: only the bus is typed; here, parameters are opaque.
  readonly callback: (...parameters: any[]) => unknown
}

const NAMESPACE = /^[a-z][\w./-]*$/i

/** A hook and its subscribers, in the order in which they run. */
export class Hook {
  readonly #name: string
  /** Replaced on each change. A run in progress keeps its own array, so it never skips or repeats a subscriber. */
  subscribers: readonly Subscriber[] = []
  runs = 0

  constructor(name: string) {
    this.#name = name
  }

  add(subscriber: Subscriber): () => void {
    checkSubscriber(this.#name, subscriber)
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

/** Returns a function that finds a hook by name. It throws a SessmgrError `hook_misuse` if the name is unknown. */
export function hookFinder(kind: 'action' | 'filter', known: readonly string[]): (name: string) => Hook {
  const hooks = new Map(known.map((name) => [name, new Hook(name)]))
  // Prefixes of hook families, such as `pre_update_option_` for `pre_update_option_{name}`.
  const families = known.filter((name) => name.includes('{')).map((name) => name.slice(0, name.indexOf('{')))

  function addOfFamily(name: string): Hook {
    const isOne = (prefix: string) => typeof name === 'string' && name.startsWith(prefix) && name.length > prefix.length
    if (!families.some(isOne)) {
      const near = nearestName(String(name), known)
      const hint = near ? ` Did you mean "${near}"?` : ''
      throw new SessmgrError('hook_misuse', `There is no ${kind} "${String(name)}".${hint}`)
    }
    const hook = new Hook(name)
    hooks.set(name, hook)
    return hook
  }

  return (name) => hooks.get(name) ?? addOfFamily(name)
}

function checkSubscriber(hook: string, { namespace, priority, callback }: Subscriber): void {
  if (typeof namespace === 'function') {
    throw new SessmgrError(
      'hook_misuse',
      `The subscriber to "${hook}" has no namespace. Put a name before the callback: add…("${hook}", "my-app", callback).`,
    )
  }
  if (typeof namespace !== 'string' || !NAMESPACE.test(namespace)) {
    throw new SessmgrError(
      'hook_misuse',
      `The namespace of a subscriber to "${hook}" must start with a letter and contain only letters, digits, "_", "-", "." or "/".`,
    )
  }
  if (typeof callback !== 'function') {
    throw new SessmgrError('hook_misuse', `The subscriber "${namespace}" to "${hook}" must be a function.`)
  }
  if (!Number.isFinite(priority)) {
    throw new SessmgrError(
      'hook_misuse',
      `The priority of the subscriber "${namespace}" to "${hook}" must be a finite number.`,
    )
  }
}
