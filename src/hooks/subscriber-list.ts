import { SessmgrError } from '../ground/errors.ts'
import { nearestName } from '../ground/option-checks.ts'

/** One callback that listens to a hook. */
export interface Subscriber {
  readonly namespace: string
  readonly priority: number
  // biome-ignore lint/suspicious/noExplicitAny: the typed surface is the bus; inside, parameters are opaque.
  readonly callback: (...parameters: any[]) => unknown
}

const NAMESPACE = /^[a-z][\w./-]*$/i

interface Hook {
  subscribers: readonly Subscriber[]
  runs: number
}

/** Keeps the subscribers of all hooks of one kind, in running order. */
export class SubscriberList {
  readonly #kind: 'action' | 'filter'
  readonly #known: readonly string[]
  /** What the names of a family begin with, such as `pre_update_option_` of `pre_update_option_{name}`. */
  readonly #families: readonly string[]
  readonly #hooks: Map<string, Hook>

  constructor(kind: 'action' | 'filter', known: readonly string[]) {
    this.#kind = kind
    this.#known = known
    this.#families = known.filter((name) => name.includes('{')).map((name) => name.slice(0, name.indexOf('{')))
    this.#hooks = new Map(known.map((name) => [name, { subscribers: [], runs: 0 }]))
  }

  add(name: string, subscriber: Subscriber): () => void {
    const hook = this.#hook(name)
    checkSubscriber(name, subscriber)
    const present = hook.subscribers
    const index = present.findIndex((other) => other.priority > subscriber.priority)
    // A run in progress keeps the array it started with, so a change here never skips or repeats a subscriber of it.
    hook.subscribers = present.toSpliced(index === -1 ? present.length : index, 0, subscriber)
    return () => {
      hook.subscribers = hook.subscribers.filter((other) => other !== subscriber)
    }
  }

  remove(name: string, namespace: string): number {
    const hook = this.#hook(name)
    const present = hook.subscribers
    hook.subscribers = present.filter((other) => other.namespace !== namespace)
    return present.length - hook.subscribers.length
  }

  has(name: string, namespace?: string): boolean {
    const { subscribers } = this.#hook(name)
    if (namespace === undefined) return subscribers.length > 0
    return subscribers.some((other) => other.namespace === namespace)
  }

  /** Counts one run and returns the subscribers that belong to it. */
  start(name: string): readonly Subscriber[] {
    const hook = this.#hook(name)
    hook.runs += 1
    return hook.subscribers
  }

  did(name: string): number {
    return this.#hook(name).runs
  }

  #hook(name: string): Hook {
    return this.#hooks.get(name) ?? this.#addOfFamily(name)
  }

  #addOfFamily(name: string): Hook {
    const isOne = (prefix: string) => typeof name === 'string' && name.startsWith(prefix) && name.length > prefix.length
    if (!this.#families.some(isOne)) {
      const near = nearestName(String(name), this.#known)
      const hint = near ? ` Did you mean "${near}"?` : ''
      throw new SessmgrError('hook_misuse', `There is no ${this.#kind} "${String(name)}".${hint}`)
    }
    const hook: Hook = { subscribers: [], runs: 0 }
    this.#hooks.set(name, hook)
    return hook
  }
}

function checkSubscriber(hook: string, { namespace, priority, callback }: Subscriber): void {
  if (typeof namespace === 'function') {
    throw new SessmgrError(
      'hook_misuse',
      `The subscriber to "${hook}" has no namespace: put a name before the callback, as in add…("${hook}", "my-app", callback).`,
    )
  }
  if (typeof namespace !== 'string' || !NAMESPACE.test(namespace)) {
    throw new SessmgrError(
      'hook_misuse',
      `The namespace of a subscriber to "${hook}" must start with a letter and hold letters, digits, "_", "-", "." or "/" only.`,
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
