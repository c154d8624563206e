import { parentPort, workerData } from 'node:worker_threads'
import type { History } from '../histories/commands.ts'
import { randomHistory } from '../histories/random.ts'
import { type Comparison, compare, hashOf, transcriptInWords } from './compare.ts'
import { type CreatePlayer, play } from './play.ts'
import { useQuickCrypto } from './quick-crypto.ts'

/** A part of the work: random histories by their numbers, or histories of their own. */
export interface Task {
  readonly from: number
  readonly to: number
  readonly step: number
  readonly histories?: readonly History[] | undefined
  /** What to do: record hashes, compare with recorded hashes, play on both rules, or write transcripts. */
  readonly mode: 'record' | 'hashes' | 'both' | 'words'
  readonly hashes?: Uint16Array | undefined
}

/** What came of a task. */
export interface TaskResult {
  readonly histories: number
  readonly commands: number
  readonly hashes: Uint16Array
  readonly comparisons: readonly Comparison[]
  readonly words: readonly string[]
}

/** The rules under test, and the recorded ones, as paths of bundles. */
export interface Rules {
  readonly rules: string
  readonly recorded: string
}

async function load(path: string): Promise<CreatePlayer> {
  const module = (await import(path)) as { createPlayer: CreatePlayer }
  return module.createPlayer
}

/** Runs a task. Of a history whose hash is as recorded, nothing else is compared. */
export async function runTask(task: Task, rules: CreatePlayer, recorded: CreatePlayer): Promise<TaskResult> {
  const { from, to, step, mode } = task
  const numbers = Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step)
  const histories = task.histories ?? numbers.map(randomHistory)
  const hashes = new Uint16Array(histories.length)
  const comparisons: Comparison[] = []
  const words: string[] = []
  let commands = 0
  for (const [index, history] of histories.entries()) {
    const found = await play(history, rules)
    commands += found.steps.length
    if (mode === 'words') words.push(transcriptInWords(history, found))
    if (mode === 'record' || mode === 'hashes') hashes[index] = hashOf(history, found)
    if (mode === 'both' || (mode === 'hashes' && task.hashes?.[index] !== hashes[index])) {
      comparisons.push(compare(history, await play(history, recorded), found))
    }
    // Everything else of this thread gets its turn.
    if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return { histories: histories.length, commands, hashes, comparisons, words }
}

if (parentPort) {
  const port = parentPort
  useQuickCrypto()
  const { rules, recorded } = workerData as Rules
  const loaded = Promise.all([load(rules), load(recorded)])
  port.on('message', async (task: Task) => {
    const [current, before] = await loaded
    port.postMessage(await runTask(task, current, before))
  })
}
