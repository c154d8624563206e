import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Runs a documented command line in a shell, against the application at this origin, and returns status and body. A
 * body in another format than JSON, as of an export, reads as empty.
 */
export async function runCurl(
  line: string,
  origin: string,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const here = line.replace('http://127.0.0.1:3000', origin)
  const { stdout } = await run('sh', ['-c', `${here} -sS -w '\\n%{http_code}'`])
  const at = stdout.lastIndexOf('\n')
  const body = stdout.slice(0, at)
  return { status: Number(stdout.slice(at + 1)), json: isJson(body) ? JSON.parse(body) : {} }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
