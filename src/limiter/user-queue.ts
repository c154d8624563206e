/** Runs tasks of one user one after the other within this process, and tasks of different users side by side. */
export type UserQueue<Key = string> = <T>(key: Key, task: () => Promise<T>) => Promise<T>

/**
 * Creates a queue in which no task holds up the next one for longer than `holdMs`.
 *
 * Taking turns is a courtesy that avoids conflicts: the registry's compare-and-set keeps the limit exact without it. So
 * a task that hangs makes the others wait a moment, not for ever.
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
