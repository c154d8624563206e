import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RunningExample } from './example-app.ts'
import { hasEnded } from './kill-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const START_MS = 60_000

/** The example application in a separate process, as `npm start` runs it. */
export class ExampleProcess extends RunningExample {
  /** What it has written to the terminal. */
  output = ''
  readonly #child: ChildProcess

  private constructor(env: Record<string, string>) {
    super()
    const clock = 'CLOCK_SKEW_MS' in env ? ['--import', './test/support/skewed-clock.ts'] : []
    this.#child = spawn(process.execPath, ['--import', 'tsx', ...clock, 'examples/express-app/server.ts'], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH ?? '',
        TSX_TSCONFIG_PATH: 'examples/express-app/tsconfig.json',
        PORT: '0',
        ...this.env,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const leaveNothing = () => this.#child.kill('SIGKILL')
    process.once('exit', leaveNothing)
    this.#child.once('exit', () => process.off('exit', leaveNothing))
  }

  get hasEnded(): boolean {
    return hasEnded(this.#child)
  }

  get origin(): string {
    return /listening on (http:\S+)/.exec(this.output)?.[1] ?? ''
  }

  /** Starts it on a free port and resolves when it prints that it is listening. */
  static async start(env: Record<string, string> = {}): Promise<ExampleProcess> {
    if (!existsSync(join(ROOT, 'dist/index.js'))) {
      throw new Error('The example runs on the built package, and dist/ is missing: run `npm run build`.')
    }
    const example = new ExampleProcess(env)
    try {
      await example.#listening()
    } catch (error) {
      await example.stop()
      throw error
    }
    return example
  }

  #listening(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`The example ${why}:\n${this.output}`))
      const giveUp = setTimeout(() => fail('did not start'), START_MS)
      const listen = (chunk: Buffer) => {
        this.output += chunk
        if (this.origin !== '') resolve(clearTimeout(giveUp))
      }
      this.#child.stdout?.on('data', listen)
      this.#child.stderr?.on('data', listen)
      // Not 'exit', because output may arrive after that event.
      this.#child.once('close', (code) => {
        clearTimeout(giveUp)
        fail(`ended with ${code}`)
      })
    })
  }

  /** Sends SIGTERM and resolves with the exit code and signal. */
  async stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    const { exitCode, signalCode } = this.#child
    let ended = { code: exitCode, signal: signalCode }
    if (!this.hasEnded) {
      const exit = once(this.#child, 'exit')
      this.#child.kill('SIGTERM')
      const [code, signal] = await exit
      ended = { code, signal }
    }
    this.forgetActions()
    return ended
  }
}
