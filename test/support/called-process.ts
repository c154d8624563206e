import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { killProcess } from './kill-process.ts'

/** A process that a test has started, and whose functions it calls. */
export interface CalledProcess<Told = object> {
  readonly child: ChildProcess
  /** What the process has told without being asked. */
  readonly told: readonly Told[]
  /** Calls a function of the process. Rejects if it fails, or if the process ends before. */
  call<Answer>(name: string, given?: object): Promise<Answer>
  /** Resolves when the process has told enough. Rejects if it ends before. */
  until(isEnough: (told: readonly Told[]) => boolean): Promise<void>
  kill(): Promise<void>
}

interface Message {
  readonly id?: number
  readonly answer?: never
  readonly error?: string
}

/** Starts one of the programs `*-process.mjs` beside this file, and waits until it tells that it is ready. */
export async function startCalled<Told = object>(program: string, setup: object): Promise<CalledProcess<Told>> {
  const env = { ...process.env, SETUP: JSON.stringify(setup) }
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), { env })
  const told: Told[] = []
  const waiting = new Map<number, (message: Message) => void>()
  child.on('message', (message: Message) => {
    if (message.id === undefined) told.push(message as Told)
    else waiting.get(message.id)?.(message)
  })
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${program} ended with ${code ?? signal}. It runs on the built package: run \`npm run build\`.`)
  })
  ended.catch(() => {})
  const until: CalledProcess<Told>['until'] = async (isEnough) => {
    while (!isEnough(told)) await Promise.race([once(child, 'message'), ended])
  }
  let calls = 0
  await until(({ length }) => length > 0)
  return {
    child,
    told,
    until,
    call(name, given = {}) {
      const id = ++calls
      const answered = new Promise<never>((resolve, reject) => {
        waiting.set(id, ({ answer, error }) => {
          waiting.delete(id)
          if (error === undefined) resolve(answer as never)
          else reject(new Error(error))
        })
      })
      child.send({ id, name, given })
      return Promise.race([answered, ended])
    },
    kill: () => killProcess(child),
  }
}
