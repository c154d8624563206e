import { expect, onTestFinished, test } from 'vitest'
import { ExampleProcess } from '../../support/example-process.ts'

async function startProcess(): Promise<ExampleProcess> {
  const example = await ExampleProcess.start()
  onTestFinished(async () => void (await example.stop()))
  return example
}

test('npm start without settings keeps everything in memory, allows one session, and says so', async () => {
  const plain = await startProcess()
  expect(plain.output).toContain('All data is in memory.')
  expect(plain.output).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/m)
  const laptop = await plain.signedIn('alice')
  const phone = await plain.signedIn('alice')
  expect([await laptop.me(), await phone.me()]).toEqual([401, 200])
  const ended = { hook: 'sessmgr_destroy_all_sessions', args: [2] }
  expect(plain.actions(ended.hook)).toEqual([ended])
})

test('SIGTERM ends it cleanly, also with a request under way', async () => {
  const ending = await startProcess()
  const browser = await ending.signedIn('alice')
  const cut = browser.hold('/note', { text: 'x' })
  expect(await browser.me()).toBe(200)
  expect(await ending.stop()).toEqual({ code: 0, signal: null })
  await expect(cut.finish()).rejects.toThrow()
  await expect(browser.get('/')).rejects.toThrow()
})

test('a wrong variable is refused at the start, in words', async () => {
  await expect(ExampleProcess.start({ PORT: 'http' })).rejects.toThrow('PORT must be a whole number; it is "http".')
})
