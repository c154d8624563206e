import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('./token-process.mjs', import.meta.url))

/** Another process that signs tokens. */
export interface TokenProcess {
  /** Lets it do something; see token-process.mjs. */
  ask<Result>(what: string, given: object): Promise<Result>
  kill(): Promise<void>
}

/** Starts processes that sign tokens on the same data. */
export function startTokenProcesses(count: number, options: object): Promise<readonly TokenProcess[]> {
  return Promise.all(Array.from({ length: count }, () => start(options)))
}

async function start(options: object): Promise<TokenProcess> {
  const child: ChildProcess = fork(PROGRAM, { env: { ...process.env, TOKENS: JSON.stringify(options) } })
  const waiting = new Map<number, (result: never) => void>()
  let last = 0
  child.on('message', ({ id, result }: { id: number; result: never }) => {
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const answer = <Result>(id: number) =>
    new Promise<Result>((resolve, reject) => {
      waiting.set(id, resolve as (result: never) => void)
      void ended.then(() => reject(new Error('The process has ended')))
    })
  await answer(0)
  return {
    ask(what, given) {
      const id = ++last
      child.send({ id, what, ...given })
      return answer(id)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
