import { expect, test } from 'vitest'
import type { Texts } from '../../../src/index.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { Browser } from '../../support/browser.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const texts: Texts = {
  lang: 'de',
  dir: 'rtl',
  product_name: 'Sitzungen',
  page_forbidden: 'Kein <Zutritt>',
  page_no_script: 'Diese Seite braucht JavaScript',
  logic_block: 'Neue abweisen',
  rest_sign_in: 'Bitte anmelden.',
  admin_save: '</script>Speichern',
}
const lab = forThisFile(() =>
  startAdminLab({ sessmgr: { texts: (request) => (request.headers['accept-language'] === 'de' ? texts : {}) } }),
)

test('rule 40: the page of the admin screen, and what others get, is in the language of the request', async () => {
  const page = async (language: string, login?: string, more: object = {}) => {
    const browser = new Browser(lab.origin)
    if (login) await browser.get(`/sign-in/${login}`)
    return (await browser.get('/admin', { headers: { 'accept-language': language, ...more } })).text
  }
  const german = await page('de', 'admin')
  for (const part of [
    '<html lang="de" dir="rtl">',
    '<title>Sitzungen</title>',
    '<h1>Diese Seite braucht JavaScript</h1>',
    '{"save":"\\u003c/script>Speichern"}</script>',
    '"block":{"label":"Neue abweisen","desc":"The new login is refused',
  ]) {
    expect(german).toContain(part)
  }
  const english = await page('en', 'admin')
  for (const part of ['<html lang="en" dir="ltr">', '<title>Session Manager</title>', '"block":{"label":"Block New"']) {
    expect(english).toContain(part)
  }
  expect(await page('de', 'alice')).toContain('<h1>Kein &lt;Zutritt&gt;</h1>')
  expect(await page('de', undefined, { accept: 'application/json' })).toContain('"Bitte anmelden."')
  const headers = { 'accept-language': 'de' }
  const answer = await new Browser(lab.origin).get('/api/sessmgr/v1/settings', { headers })
  expect(answer.json().message).toBe('Bitte anmelden.')
})
