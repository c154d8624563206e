import ts from 'typescript'
import { expect, test } from 'vitest'
import { type SessmgrOptions, textCatalogue } from '../../src/index.ts'
import { startExpressHost } from '../support/express-host.ts'
import { codeBlocks, pageAt } from './pages.ts'

/** Runs the German example of the page, and gives the options that it makes the limiter with. */
function germanOptions(): SessmgrOptions {
  const { code = '' } = codeBlocks(pageAt('docs/notice.md')).find(({ code }) => code.includes('german')) ?? {}
  const body = code.replace(/^import .*$/m, '').replace('export const limiter =', 'return')
  const { outputText } = ts.transpileModule(body, { compilerOptions: { target: ts.ScriptTarget.ES2022 } })
  return new Function('sessmgr', 'host', outputText)((options: SessmgrOptions) => options, undefined)
}

test('the German example of docs/notice.md speaks German to Germans and English to everybody else', async () => {
  const { texts } = germanOptions()
  const host = await startExpressHost({ sessmgr: { texts, settings: { maximum: 1, logic: 'block' } } })
  await host.signedIn('alice')
  const refusal = async (language: string) => {
    const headers = { accept: 'application/json', 'accept-language': language }
    return (await host.browser().login('alice', headers)).json().message
  }
  expect(await refusal('de-AT,de;q=0.9')).toMatch(/^Für dieses Konto sind bereits genug Geräte angemeldet/)
  expect(await refusal('fr')).toBe(textCatalogue.texts.login_blocked)
})
