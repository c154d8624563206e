import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Texts } from '../../../src/index.ts'
import { type AdminLab, startAdminLab } from '../../support/admin-lab.ts'
import { Browser } from '../../support/browser.ts'

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

let lab: AdminLab
beforeAll(async () => {
  lab = await startAdminLab({
    sessmgr: { texts: (request) => (request.headers['accept-language'] === 'de' ? texts : {}) },
  })
})
afterAll(() => lab?.close())

async function page(login: string, language: string): Promise<string> {
  const browser = new Browser(lab.origin)
  await browser.get(`/sign-in/${login}`)
  return (await browser.get('/admin', { headers: { 'accept-language': language } })).text
}

test('rule 40: the page of the admin screen is in the language of the request, and brings its texts', async () => {
  const german = await page('admin', 'de')
  expect(german).toContain('<html lang="de" dir="rtl">')
  expect(german).toContain('<title>Sitzungen</title>')
  expect(german).toContain('<h1>Diese Seite braucht JavaScript</h1>')
  expect(german).toContain('{"save":"\\u003c/script>Speichern"}</script>')
  expect(german).toContain('"block":{"label":"Neue abweisen","desc":"The new login is refused')

  const english = await page('admin', 'en')
  expect(english).toContain('<html lang="en" dir="ltr">')
  expect(english).toContain('<title>Session Manager</title>')
  expect(english).toContain('"block":{"label":"Block New"')
})

test('rule 40: so is the page for users who may not open the screen', async () => {
  expect(await page('alice', 'de')).toContain('<h1>Kein &lt;Zutritt&gt;</h1>')
  expect(await page('alice', 'en')).toContain('<h1>You cannot open this page</h1>')
})

test('rule 40: so are the answers of the routes, and what an anonymous caller of the screen gets', async () => {
  const browser = new Browser(lab.origin)
  const messages = async (language: string) => {
    const headers = { accept: 'application/json', 'accept-language': language }
    const answers = [
      await browser.get('/api/sessmgr/v1/settings', { headers }),
      await browser.get('/admin', { headers }),
    ]
    return answers.map((answer) => answer.json().message)
  }
  expect(await messages('de')).toEqual(['Bitte anmelden.', 'Bitte anmelden.'])
  expect(await messages('en')).toEqual(['Sign in first.', 'Sign in first.'])
})
