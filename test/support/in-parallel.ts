/** Runs `count` tasks with at most `inFlight` of them at a time, and returns what they returned, in order. */
export async function inParallel<T>(
  count: number,
  inFlight: number,
  task: (index: number) => Promise<T>,
): Promise<readonly T[]> {
  const results: T[] = []
  let next = 0
  async function work(): Promise<void> {
    while (next < count) {
      const index = next++
      results[index] = await task(index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, work))
  return results
}
