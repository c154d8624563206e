/** Runs the tasks of one user one after the other in this process. Tasks of different users run in parallel. */
export type UserQueue<Key = string> = <T>(key: Key, task: () => Promise<T>) => Promise<T>

/**
 * Creates a queue in which a task delays the next one by at most `holdMs`.
 *
 * The queue only avoids conflicts. The registry's compare-and-set keeps the limit exact without it, so a task that
 * hangs delays the others but does not block them.
 */
export function createUserQueue<Key = string>(holdMs: number): UserQueue<Key> {
  const tails = new Map<Key, Promise<void>>()
  return async (key, task) => {
    const before = tails.get(key)
    let release = () => {}
    const turn = new Promise<void>((resolve) => {
      release = resolve
    })
    tails.set(key, turn)
    if (before) await before
    const timer = setTimeout(release, holdMs)
    try {
      return await task()
    } finally {
      clearTimeout(timer)
      release()
      if (tails.get(key) === turn) tails.delete(key)
    }
  }
}
