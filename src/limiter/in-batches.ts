/** Calls under way at a time: many enough to be quick, few enough for others to be answered in between. */
const BATCH = 250

/**
 * Runs a task for each item, a batch at a time, and stops after the batch whose results are enough.
 *
 * Resolves with the results so far, in order of the items.
 */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  task: (item: Item) => Promise<Result>,
  isEnough = (_: readonly Result[]) => false,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let first = 0; first < items.length && !isEnough(results); first += BATCH) {
    results.push(...(await Promise.all(items.slice(first, first + BATCH).map(task))))
  }
  return results
}
