import type { RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import { serve } from './serve.ts'

/** Serves an application on a free port of 127.0.0.1 until the test has finished, and returns the origin. */
export async function listen(app: RequestListener): Promise<string> {
  const { origin, close } = await serve(app)
  onTestFinished(close)
  return origin
}
