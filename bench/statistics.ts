export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value that a part of all values, from 0 to 1, does not exceed; between two of them in proportion. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * part
  const [below = 0, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return below + (above - below) * (place % 1)
}

/** A ratio with the range of the middle half of all rounds, which is the noise. */
export function withQuartiles(value: number, rounds: readonly number[]): string {
  return `${value.toFixed(2)} (${quantile(rounds, 0.25).toFixed(2)}–${quantile(rounds, 0.75).toFixed(2)})`
}

/** Returns the values in a random order. */
export function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}

/** Milliseconds that each of some functions takes, called in turns. */
export async function timesInTurns<Name extends string>(
  count: number,
  runs: Readonly<Record<Name, (index: number) => Promise<unknown>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(runs) as Name[]
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>
  for (let index = 0; index < count; index++) {
    for (const name of shuffled(names)) {
      const start = performance.now()
      await runs[name](index)
      times[name].push(performance.now() - start)
    }
  }
  return times
}
