import { onTestFinished, vi } from 'vitest'

const real = performance.now.bind(performance)

/** Lets time pass for `performance.now()`, at once. It is set back when the test has finished. */
export function passingTime(): (ms: number) => void {
  let ahead = 0
  const now = vi.spyOn(performance, 'now').mockImplementation(() => real() + ahead)
  onTestFinished(() => now.mockRestore())
  return (ms) => {
    ahead += ms
  }
}
