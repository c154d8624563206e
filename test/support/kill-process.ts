import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Checks whether a process has ended, by itself or by a signal. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Kills a process unless it has ended, and waits for its end. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
