import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Module for `node --import` that makes a program listen on another port. */
export const listenAnywhere = new URL('./listen-anywhere.mjs', import.meta.url).href

/** How a program is started. */
export interface ProgramOptions {
  readonly cwd: string
  readonly env?: Record<string, string | undefined>
  /** Parameters of Node before the program. */
  readonly parameters?: readonly string[]
  /** How many of its processes listen. */
  readonly processes?: number
}

/** A running program. */
export interface StartedProgram {
  readonly origin: string
  stop(): Promise<void>
}

/** Starts a program on a free port. */
export async function startProgram(name: string, options: ProgramOptions): Promise<StartedProgram> {
  const { cwd, env, parameters = [], processes = 1 } = options
  const child: ChildProcess = spawn(process.execPath, [...parameters, '--import', listenAnywhere, name], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // Stops the program even if the test times out before it can.
  const leaveNothing = () => child.kill()
  process.once('exit', leaveNothing)
  const exited = once(child, 'exit').finally(() => process.off('exit', leaveNothing))
  const ports: string[] = []
  const listening = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const port = /^port (\d+)$/.exec(line)?.[1]
      if (port) ports.push(port)
      if (ports.length === processes) resolve()
    })
  })
  await Promise.race([listening, exited])
  if (ports.length < processes) throw new Error(`${name} does not listen.`)
  return {
    origin: `http://127.0.0.1:${ports[0]}`,
    async stop() {
      child.kill()
      await exited
    },
  }
}
