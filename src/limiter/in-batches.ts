/** Calls under way at a time: many enough to be quick, few enough for others to be answered in between. */
const BATCH = 250

/**
 * Runs a task for the items of each batch, one batch at a time, and stops after the one whose results are enough.
 *
 * Resolves with the results so far, in order of the items.
 */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  task: (batch: readonly Item[]) => Promise<readonly Result[]>,
  isEnough = (_: readonly Result[]) => false,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let first = 0; first < items.length && !isEnough(results); first += BATCH) {
    results.push(...(await task(items.slice(first, first + BATCH))))
  }
  return results
}
