import { SessmgrError } from '../errors.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { OptionStore } from './option-store.ts'

/** Writes that may lose against others before an update gives up. */
const MAX_ATTEMPTS = 20

/**
 * One named option of the site.
 *
 * Every method rejects with `store_unavailable` when the store cannot be reached, and with `hook_failed` or
 * `hook_timeout` when a subscriber to a filter fails.
 */
export interface SiteOption<T = unknown> {
  /** The name that it is stored and shown under. */
  readonly name: string
  /** Whether the generic settings endpoint shows it. */
  readonly rest: boolean
  /** Builds the value: what is stored, over the default. Built anew only after a write. */
  get(): Promise<T>
  /**
   * Changes the option. Of an object, an omitted key keeps its value.
   *
   * The filter `pre_update_option_<name>` sees the whole new value, then it is sanitised, then stored.
   *
   * @param refuse Looks at the value that the write replaces. What it throws refuses the write.
   * @throws SessmgrError `invalid_setting` naming each bad value; nothing is written then.
   */
  update(value: unknown, refuse?: (current: T) => void): Promise<T>
  /** Tells, by throwing like `update`, whether a value would be refused. Writes nothing. */
  check(value: unknown): Promise<void>
}

/** What an option is made from. */
export interface SiteOptionParts<T> {
  readonly name: string
  readonly rest: boolean
  readonly store: OptionStore
  readonly hooks: Hooks
  /** Builds the value from what is stored; undefined when nothing is. */
  build(stored: unknown): Promise<T>
  /** Makes a new value acceptable, or throws `invalid_setting`. */
  sanitize(value: unknown, current: T): T | Promise<T>
}

/** Creates an option over an option store. */
export function createSiteOption<T>({ name, rest, store, hooks, build, sanitize }: SiteOptionParts<T>): SiteOption<T> {
  let built: { revision: string | undefined; value: T } | undefined

  async function read(): Promise<{ revision: string | undefined; value: T }> {
    const stored = await store.get(name)
    if (built && built.revision === stored?.revision) return built
    const fresh = { revision: stored?.revision, value: await build(stored?.value) }
    built = fresh
    return fresh
  }

  async function prepare(current: T, value: unknown): Promise<T> {
    const candidate = isRecord(current) ? { ...current, ...recordOf(name, value) } : value
    return sanitize(await hooks.applyFilters(`pre_update_option_${name}`, candidate, current), current)
  }

  return {
    name,
    rest,
    get: async () => (await read()).value,
    async check(value) {
      await prepare((await read()).value, value)
    },
    async update(value, refuse) {
      for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
        const { revision, value: current } = await read()
        refuse?.(current)
        if (await store.swap(name, revision, await prepare(current, value))) return (await read()).value
      }
      throw new SessmgrError('store_unavailable', `The option "${name}" is being changed by many at once. Try again.`)
    },
  }
}

function recordOf(name: string, value: unknown): object {
  if (isRecord(value)) return value
  const problem = 'must be an object'
  throw new SessmgrError('invalid_setting', `"${name}" ${problem}. Nothing was changed.`, {
    params: { [name]: problem },
  })
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
