export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Returns a quantile, with `part` from 0 to 1. Interpolates between two values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * part
  const [below = 0, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return below + (above - below) * (place % 1)
}

/** Formats a ratio with the range of the middle half of all rounds, which shows the noise. */
export function withQuartiles(value: number, rounds: readonly number[]): string {
  return `${value.toFixed(2)} (${quantile(rounds, 0.25).toFixed(2)}–${quantile(rounds, 0.75).toFixed(2)})`
}

/** Returns the values in random order. */
export function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}

/** Measures how many milliseconds each of several functions takes, calling them in turns. */
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
