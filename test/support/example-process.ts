import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Browser } from './browser.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const START_MS = 15_000

/** The example application in a process of its own, as `npm start` runs it. */
export class ExampleProcess {
  readonly origin: string
  readonly #child: ChildProcess
  readonly #output: string[]
  readonly #folder: string

  private constructor(child: ChildProcess, output: string[], folder: string) {
    this.#child = child
    this.#output = output
    this.#folder = folder
    this.origin = /listening on (http:\S+)/.exec(this.output)?.[1] ?? ''
  }

  /** Starts it on a free port and resolves when it says that it is listening. */
  static async start(env: Record<string, string> = {}): Promise<ExampleProcess> {
    if (!existsSync(join(ROOT, 'dist/index.js'))) {
      throw new Error('The example runs on the built package, and dist/ is missing: run `npm run build`.')
    }
    const folder = mkdtempSync(join(tmpdir(), 'sessmgr-example-'))
    const child = spawn(process.execPath, ['--import', 'tsx', 'examples/express-app/server.ts'], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH ?? '',
        TSX_TSCONFIG_PATH: 'examples/express-app/tsconfig.json',
        PORT: '0',
        SESSION_SECRET: 'test',
        SCRYPT_COST: '16',
        TEST_HOOKS_LOG: join(folder, 'hooks.jsonl'),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output: string[] = []
    await new Promise<void>((resolve, reject) => {
      const giveUp = setTimeout(() => reject(new Error(`The example did not start:\n${output.join('')}`)), START_MS)
      const listen = (chunk: Buffer) => {
        output.push(String(chunk))
        if (output.join('').includes('listening on')) resolve(clearTimeout(giveUp))
      }
      child.stdout?.on('data', listen)
      child.stderr?.on('data', listen)
      child.once('exit', (code) => reject(new Error(`The example ended with ${code}:\n${output.join('')}`)))
    }).catch((error) => {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
      throw error
    })
    return new ExampleProcess(child, output, folder)
  }

  /** What it has written to the terminal. */
  get output(): string {
    return this.#output.join('')
  }

  /** The actions in its hooks log, without those of its start. */
  actions(): { hook: string; args: unknown[] }[] {
    const file = join(this.#folder, 'hooks.jsonl')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
    const actions = lines.map((line) => JSON.parse(line) as { hook: string; args: unknown[] })
    return actions.filter(({ hook }) => !hook.endsWith('_init'))
  }

  browser(): Browser {
    return new Browser(this.origin)
  }

  /** A browser in which a demo user has signed in. */
  async signedIn(login: string): Promise<Browser> {
    const browser = this.browser()
    await this.login(browser, login)
    return browser
  }

  /** Posts the login form with the demo user's own password. */
  login(browser: Browser, login: string, more: Record<string, string> = {}, headers: Record<string, string> = {}) {
    return browser.post('/login', { username: login, password: `${login.split('@')[0]}-password`, ...more }, headers)
  }

  /** Sends SIGTERM and resolves with the exit code and signal. */
  async stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    const { exitCode, signalCode } = this.#child
    let ended = { code: exitCode, signal: signalCode }
    if (exitCode === null && signalCode === null) {
      const exit = once(this.#child, 'exit')
      this.#child.kill('SIGTERM')
      const [code, signal] = await exit
      ended = { code, signal }
    }
    rmSync(this.#folder, { recursive: true, force: true })
    return ended
  }
}
