import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExampleProcess } from '../support/example-process.ts'
import { codeBlocks, pages } from './pages.ts'

const run = promisify(execFile)

/**
 * Runs a documented command line in a shell, against the application at this origin, and returns status and body. A
 * body in another format than JSON, as of an export, reads as empty.
 */
async function runCurl(line: string, origin: string): Promise<{ status: number; json: Record<string, unknown> }> {
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

const SHELL = pages()
  .flatMap(codeBlocks)
  .flatMap(({ language, code }) => (language === 'sh' ? [code] : []))
  .join('\n')
const LINES = SHELL.match(/^curl .*$/gm) ?? []
const PASSWORD = /^SEED_APP_PASSWORD=(\S+) npm start$/m.exec(SHELL)?.[1] ?? ''

let example: ExampleProcess
beforeAll(async () => {
  example = await ExampleProcess.start({ SEED_APP_PASSWORD: PASSWORD })
})
afterAll(() => example.stop())

const shell = (line: string) => runCurl(line, example.origin)

const lineWith = (...parts: string[]) => {
  const found = LINES.filter((line) => parts.every((part) => line.includes(part)))
  expect(found, parts.join(' ')).toHaveLength(1)
  return found[0] as string
}

describe('the curl lines of the documentation, on the example application', () => {
  it('are for the example application as docs/rest.md starts it', () => {
    expect(PASSWORD.length).toBeGreaterThanOrEqual(24)
    for (const line of LINES) expect(line).toContain('http://127.0.0.1:3000/api/')
  })

  it.each(LINES)('%s', async (line) => {
    expect((await shell(line)).status).toBe(200)
  })

  it('do what they say', async () => {
    const alice = await example.signedIn('alice')
    const read = await shell(lineWith('sessions?user=alice'))
    expect(read.json).toMatchObject({
      user: { id: 2, login: 'alice' },
      sessions: [{ ip: '127.0.0.1', current: false }],
    })
    expect((await shell(lineWith('-d', '"maximum":3'))).json).toMatchObject({ maximum: 3 })
    expect((await shell(lineWith('sessions/destroy ', '-d'))).json).toMatchObject({ success: true, user: { id: 2 } })
    expect((await alice.get('/me')).status).toBe(401)
    const site = (await shell(lineWith('wp/v2/settings', '-d'))).json
    expect(site).toMatchObject({ sessmgr_settings: { maximum: 3, logic: 'logout_oldest' } })
    const again = await example.signedIn('alice')
    expect((await shell(lineWith('destroy-all'))).json).toEqual({
      success: true,
      epoch: expect.any(Number),
      durable: expect.any(Boolean),
    })
    expect((await again.get('/me')).status).toBe(401)
  })

  it('need that password', async () => {
    for (const line of LINES.filter((line) => line.includes(PASSWORD))) {
      const { status, json } = await shell(line.replace(PASSWORD, PASSWORD.replace('a', 'b')))
      // Ten wrong ones are enough for the rate limiter of the example.
      expect([status, json.code]).toEqual(status === 429 ? [429, 'too_many_attempts'] : [401, 'rest_forbidden'])
    }
    expect(example.output).not.toContain(PASSWORD)
  })
})
