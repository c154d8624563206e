import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ErasedUser } from '../../src/index.ts'
import { hasEnded } from './has-ended.ts'
import { killProcess } from './kill-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What the processes work on. */
export interface ErasingSetup {
  /** A SQLite file, the host of PostgreSQL, or the URL of Redis. */
  readonly place: { readonly path: string } | { readonly host: string } | { readonly url: string }
  /** File of the activity log. @default the place itself */
  readonly lines?: string | undefined
  readonly users: readonly string[]
  readonly processes: number
  readonly secret: string
}

interface Message {
  readonly ready?: boolean
  readonly left?: string
  readonly erased?: ErasedUser
  readonly stopped?: boolean
  readonly acts?: number
  readonly tokens?: Readonly<Record<string, readonly string[]>>
  readonly failed?: string
}

/** One process of an application that leaves data about its users. */
class ErasingProcess {
  readonly child: ChildProcess
  readonly messages: Message[] = []
  readonly #waiting = new Set<() => void>()

  constructor({ place, lines, users, secret }: ErasingSetup) {
    const spec = { ...place, lines, users, secret, inFlight: 2 }
    this.child = spawn(process.execPath, [fileURLToPath(new URL('erase-process.mjs', import.meta.url))], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ERASE: JSON.stringify(spec) },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.messages.push(JSON.parse(line) as Message)
      this.#wake()
    })
    this.child.once('close', () => this.#wake())
  }

  tell(message: object): void {
    this.child.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  /** Resolves to the first message with this key. */
  said(key: keyof Message): Promise<Message> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const message = this.messages.find((one) => key in one)
        if (message) resolve(message)
        else if (hasEnded(this.child))
          reject(new Error(`The process ended with ${this.child.exitCode ?? this.child.signalCode}.`))
        else return
        this.#waiting.delete(look)
      }
      this.#waiting.add(look)
      look()
    })
  }

  #wake(): void {
    for (const look of this.#waiting) look()
  }
}

/** What the processes have done. */
export interface ErasingResult {
  readonly erased: ErasedUser
  /** Number of acts per process. */
  readonly acts: readonly number[]
  /** Tokens of all sessions of the erased user. */
  readonly tokens: readonly string[]
  /** Unexpected failures. */
  readonly failures: readonly string[]
}

/**
 * Starts processes that all work on the same users, and erases one user in the first of them, while what the others have
 * begun about that user goes on.
 *
 * @param before Runs when all of them work.
 */
export async function eraseInProcesses(
  setup: ErasingSetup,
  user: string,
  before: () => Promise<void>,
): Promise<ErasingResult> {
  const processes: ErasingProcess[] = []
  try {
    // One after the other, because the first one creates the tables.
    for (let n = 0; n < setup.processes; n++) {
      const started = new ErasingProcess(setup)
      processes.push(started)
      await started.said('ready')
    }
    await before()
    for (const one of processes) one.tell({ leave: user })
    await Promise.all(processes.map((one) => one.said('left')))
    const [first] = processes as [ErasingProcess]
    first.tell({ erase: user })
    const { erased } = (await first.said('erased')) as { erased: ErasedUser }
    for (const one of processes) one.tell({ stop: true })
    const stopped = await Promise.all(processes.map((one) => one.said('stopped')))
    return {
      erased,
      acts: stopped.map(({ acts = 0 }) => acts),
      tokens: stopped.flatMap(({ tokens = {} }) => tokens[user] ?? []),
      failures: processes.flatMap(({ messages }) => messages.flatMap(({ failed = [] }) => failed)),
    }
  } finally {
    await Promise.all(processes.map(({ child }) => killProcess(child)))
  }
}
