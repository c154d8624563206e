/** Number of concurrent calls: enough to be fast, but few enough to let other requests in between. */
const BATCH = 250

/**
 * Runs a task for each item, in batches. Stops after the batch whose results are enough.
 *
 * Resolves to the results so far, in the order of the items.
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
