import { expect, test } from 'vitest'
import { pages } from './pages.ts'

const WHAT = ['session', 'activity log', 'index of people', 'application passwords', 'device cookie', 'waiting login']

test('the page on privacy says of all personal data where it is, how long, and how to erase it', () => {
  const page = pages().find(({ path }) => path === 'docs/privacy.md')?.text ?? ''
  const rows = page.split('\n').filter((line) => line.startsWith('| '))
  const cells = rows.slice(2).map((row) => row.split('|').slice(1, -1))
  for (const what of WHAT) expect(cells.map(([first]) => first).join('\n')).toContain(what)
  for (const row of cells) expect(row.map((cell) => cell.trim() !== '')).toEqual([true, true, true, true])
  expect(page).toContain('`audit: false`')
  expect(page).toContain('limiter.eraseUser(userId)')
})
