import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs a documented command line in a shell, against the application at this origin, and returns status and body. */
export async function runCurl(
  line: string,
  origin: string,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const here = line.replace('http://127.0.0.1:3000', origin)
  const { stdout } = await run('sh', ['-c', `${here} -sS -w '\\n%{http_code}'`])
  const at = stdout.lastIndexOf('\n')
  return { status: Number(stdout.slice(at + 1)), json: JSON.parse(stdout.slice(0, at)) }
}
