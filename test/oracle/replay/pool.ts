import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { bundle, CACHE } from './bundle.ts'
import type { Rules, Task, TaskResult } from './worker.ts'

/** Histories make much that is soon of no use, which costs less to remove at once. */
const YOUNG = { maxYoungGenerationSizeMb: 128 }

/** Runs tasks on all cores, and returns their results in order. */
export async function runTasks(
  tasks: readonly Task[],
  rules: Rules,
  progress: (result: TaskResult) => void = () => {},
): Promise<readonly TaskResult[]> {
  const file = await bundle('test/oracle/replay/worker.ts', join(CACHE, `worker-${process.pid}.mjs`))
  const results: TaskResult[] = []
  let next = 0
  const runOne = async () => {
    const worker = new Worker(file, { workerData: rules, resourceLimits: YOUNG })
    try {
      for (let index = next++; index < tasks.length; index = next++) {
        const result = await answerOf(worker, tasks[index] as Task)
        results[index] = result
        progress(result)
      }
    } finally {
      await worker.terminate()
    }
  }
  const count = Math.min(tasks.length, availableParallelism())
  await Promise.all(Array.from({ length: count }, runOne))
  return results
}

function answerOf(worker: Worker, task: Task): Promise<TaskResult> {
  return new Promise((resolve, reject) => {
    worker.once('message', (result: TaskResult) => {
      worker.off('error', reject)
      resolve(result)
    })
    worker.once('error', reject)
    worker.postMessage(task)
  })
}
