import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { hasEnded } from './has-ended.ts'

/** Kills a process unless it has ended, and waits for its end. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
