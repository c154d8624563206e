import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type CliWorld, runCli, startCliWorld } from '../support/cli.ts'
import { ownFolder } from '../support/own-folder.ts'
import { codeBlocks, pages } from './pages.ts'

const ALICE = 2
const ADMIN = 1

/** Puts erasures last: after one, a login of that user that takes a second is refused, as on a busy machine. */
const erasesLast = (one: string, other: string) => Number(one.includes(' erase ')) - Number(other.includes(' erase '))

const lines = pages()
  .filter(({ path }) => path.startsWith('docs/'))
  .flatMap(codeBlocks)
  .filter(({ language }) => language === 'sh')
  .flatMap(({ code }) => code.match(/^npx sessmgr .*$/gm) ?? [])
  .sort(erasesLast)

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
}, 240_000)
afterAll(() => world.close())

/** Puts something real where the line says what goes there. */
async function filledIn(line: string): Promise<string> {
  const [session] = await world.host.limiter.sessions.list(ALICE)
  const { id } = await world.host.limiter.passwords.create(ADMIN, 'to be revoked')
  return line.replace('<token>', session?.token ?? '').replace('<id>', id)
}

const isForVendors = (line: string) => line.startsWith('npx sessmgr license ')

describe('the commands of the documentation', () => {
  it.each([...new Set(lines)].filter((line) => !isForVendors(line)))('%s', async (line) => {
    // Nobody signs in right after an erasure.
    await vi.waitFor(() => world.host.signedIn('alice'), { timeout: 10_000, interval: 500 })
    const { code, out, err } = await world.run(...(await filledIn(line)).split(' ').slice(2))
    expect([code, err]).toEqual([0, ''])
    expect(out).not.toBe('')
  })

  it('of a vendor work one after the other', async () => {
    const folder = ownFolder()
    let jti = ''
    for (const line of lines.filter(isForVendors)) {
      const { code, out, err } = await runCli(line.replace('<jti>', jti).split(' ').slice(2), { cwd: folder })
      expect(code, `${line}: ${err}`).toBe(0)
      jti = /\(jti\): +(\S+)/.exec(out)?.[1] ?? jti
    }
    expect(readdirSync(folder).length).toBeGreaterThan(2)
  })
})
