import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'

const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
const LINES = README.match(/^npx sessmgr .*$/gm) ?? []

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
afterAll(() => world.close())

describe('the commands of the README', () => {
  it.each(LINES)('%s', async (line) => {
    await world.host.signedIn('alice')
    const { code, out, err } = await world.run(...line.split(' ').slice(2))
    expect([code, err]).toEqual([0, ''])
    expect(out).not.toBe('')
  })

  it('name every command that there is, there or in the text below', async () => {
    const section = README.split('\n## Command line\n')[1]?.split('\n## ')[0] ?? ''
    for (const group of ['sessions', 'settings', 'app-passwords']) {
      const { out } = await world.run(group, '--help')
      const commands = [...(out.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name)
      expect(commands.length).toBeGreaterThan(2)
      for (const name of commands.filter((name) => name !== 'help')) expect(section).toContain(`${group} ${name}`)
    }
  })
})
