import { SessmgrError } from '../ground/errors.ts'
import { nearestName } from '../ground/nearest-name.ts'

/** One callback that listens to a hook. */
export interface Subscriber {
  readonly namespace: string
  readonly priority: number
  // biome-ignore lint/suspicious/noExplicitAny: the typed surface is the bus; inside, parameters are opaque.
  readonly callback: (...parameters: any[]) => unknown
}

const NAMESPACE = /^[a-z][\w./-]*$/i

/** Keeps the subscribers of all hooks of one kind, in running order. */
export class SubscriberList {
  readonly #kind: 'action' | 'filter'
  readonly #known: readonly string[]
  readonly #subscribers = new Map<string, readonly Subscriber[]>()
  readonly #runs = new Map<string, number>()

  constructor(kind: 'action' | 'filter', known: readonly string[]) {
    this.#kind = kind
    this.#known = known
  }

  add(hook: string, subscriber: Subscriber): () => void {
    this.#checkHook(hook)
    checkSubscriber(hook, subscriber)
    const present = this.of(hook)
    const index = present.findIndex((other) => other.priority > subscriber.priority)
    // A run in progress keeps the array it started with, so a change here never skips or repeats a subscriber of it.
    this.#subscribers.set(hook, present.toSpliced(index === -1 ? present.length : index, 0, subscriber))
    return () => {
      this.#subscribers.set(
        hook,
        this.of(hook).filter((other) => other !== subscriber),
      )
    }
  }

  remove(hook: string, namespace: string): number {
    this.#checkHook(hook)
    const present = this.of(hook)
    const kept = present.filter((other) => other.namespace !== namespace)
    this.#subscribers.set(hook, kept)
    return present.length - kept.length
  }

  has(hook: string, namespace?: string): boolean {
    this.#checkHook(hook)
    return this.of(hook).some((other) => namespace === undefined || other.namespace === namespace)
  }

  of(hook: string): readonly Subscriber[] {
    return this.#subscribers.get(hook) ?? []
  }

  /** Counts one run and returns the subscribers that belong to it. */
  start(hook: string): readonly Subscriber[] {
    this.#checkHook(hook)
    this.#runs.set(hook, this.did(hook) + 1)
    return this.of(hook)
  }

  did(hook: string): number {
    this.#checkHook(hook)
    return this.#runs.get(hook) ?? 0
  }

  #checkHook(hook: string): void {
    if (this.#known.some((name) => name === hook || isOneOf(hook, name))) return
    const near = nearestName(String(hook), this.#known)
    throw new SessmgrError(
      'hook_misuse',
      `There is no ${this.#kind} "${String(hook)}".${near ? ` Did you mean "${near}"?` : ''}`,
    )
  }
}

/** Tells whether a hook belongs to a family such as `pre_update_option_{name}`. */
function isOneOf(hook: unknown, family: string): boolean {
  const prefix = family.split('{', 1)[0] ?? ''
  return prefix !== family && typeof hook === 'string' && hook.startsWith(prefix) && hook.length > prefix.length
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
