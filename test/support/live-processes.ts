import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LiveOptions } from '../../src/live.ts'
import { killProcess } from './kill-process.ts'

const PROGRAM = fileURLToPath(new URL('live-process.mjs', import.meta.url))

/** A process of an application with open connections. */
export interface LiveProcess {
  readonly origin: string
  readonly logs: string[]
  /** Calls one of the commands of test/support/live-process.mjs. */
  call<Answer>(call: string, given?: object): Promise<Answer>
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  stop(): Promise<void>
}

interface Setup {
  readonly url: string
  readonly live?: LiveOptions
  readonly settings?: object
  readonly deadlineMs?: number
}

/** Starts a process. */
export async function startLiveProcess(setup: Setup): Promise<LiveProcess> {
  const child = fork(PROGRAM, { env: { ...process.env, LIVE: JSON.stringify(setup) } })
  const waiting = new Map<number, (answer: never) => void>()
  const logs: string[] = []
  let calls = 0
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  child.on('message', (message: { id?: number; answer?: never; log?: string }) => {
    if (message.log !== undefined) logs.push(message.log)
    if (message.id === undefined) return
    waiting.get(message.id)?.(message.answer as never)
    waiting.delete(message.id)
  })
  return {
    origin: `http://127.0.0.1:${port}`,
    logs,
    call: (call, given) =>
      new Promise((resolve) => {
        const id = ++calls
        waiting.set(id, resolve)
        child.send({ id, call, given })
      }),
    signal: (name) => void child.kill(name),
    stop: () => killProcess(child),
  }
}
