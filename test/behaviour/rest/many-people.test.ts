import { beforeAll, expect, it } from 'vitest'
import type { Host } from '../../../src/index.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { registerSession } from '../../support/register-session.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { createRestUsers, type RestUser, restHostOf } from '../../support/rest-users.ts'
import { rounds } from '../../support/rounds.ts'

/** 10,000 in the campaign. */
const COUNT = rounds(1000)
const MANY = COUNT / 10
const START = 1000
/** How many people the application was asked for. */
let found = 0
const users = {
  ...restHostOf(createRestUsers()).users,
  findById(id: number | string): RestUser {
    found += 1
    const known = createRestUsers().find((user) => user.id === Number(id))
    return known ?? { id: Number(id), login: `user${id}`, role: 'subscriber' }
  },
}
const host = forThisFile(() => startRestHost({ host: { users } as Partial<Host> }))
const headers = forThisFile(() => host.scriptOf('admin'))
const list = async (query: string) => (await host.call('GET', `/sessmgr/v1/people?${query}`, { headers })).json

// Ten people have three sessions, and everyone else has one.
const now = Date.now()
const people = Array.from({ length: COUNT }, (_, index) => ({
  userId: START + index,
  at: now - index,
  live: index % MANY === MANY - 1 ? 3 : 1,
}))
beforeAll(async () => {
  for (const { userId, live } of people) for (let count = 0; count < live; count++) await registerSession(host, userId)
  await host.registry.people.note(people)
})

/** Reads all pages, and returns the ids in order with the number of pages. */
async function readAll(query: string) {
  const ids: number[] = []
  let pages = 0
  for (let cursor = ''; ; pages += 1) {
    found = 0
    const page = await list(`${query}${cursor}`)
    expect(found).toBeLessThanOrEqual(101)
    ids.push(...page.people.map(({ user }: { user: { id: number } }) => user.id))
    if (page.next === undefined) return { ids, pages: pages + 1 }
    cursor = `&cursor=${encodeURIComponent(page.next)}`
  }
}

it('all people are listed page by page, each once', async () => {
  const { ids, pages } = await readAll('limit=100')
  expect(pages).toBe(COUNT / 100)
  expect(ids).toEqual(people.map(({ userId }) => userId))
})

it('a page is short, and has a next one, after looking at 500 people', async () => {
  await host.limiter.settings.update({ maximum: 2 })
  const first = await list('show=over_limit')
  expect(first).toMatchObject({ next: expect.any(String), exact: false })
  const { ids, pages } = await readAll('show=over_limit')
  expect(ids).toEqual(people.filter(({ live }) => live === 3).map(({ userId }) => userId))
  expect(pages).toBe(COUNT / 500)
})

it('those over the limit are found at once among those with the most sessions', async () => {
  const { people: over, ...page } = await list('show=over_limit&sort=most')
  expect(over).toHaveLength(10)
  expect(page).toEqual({ exact: true })
})

it('the numbers are those of everyone', async () => {
  const { json } = await host.call('GET', '/sessmgr/v1/people/summary', { headers })
  expect(json).toMatchObject({ people: COUNT, sessions: COUNT + 20, at_limit: 10, over_limit: 10, exact: false })
})

it('all of them are in the file', async () => {
  const { text } = await host.call('GET', '/sessmgr/v1/people/export', { headers })
  expect(text.split('\r\n')).toHaveLength(COUNT + 2)
})

it('there is no list if the directory is off', async () => {
  const without = await startRestHost({ sessmgr: { directory: false } })
  const script = await without.scriptOf('admin')
  for (const path of ['', '/summary', '/over?maximum=2', '/export', '/export?format=json']) {
    const { status, json } = await without.call('GET', `/sessmgr/v1/people${path}`, { headers: script })
    expect([status, json.code], path).toEqual([404, 'no_directory'])
  }
  const found = await without.call('GET', '/sessmgr/v1/people/search?q=127.0.0.1', { headers: script })
  expect(found.json).toEqual({ searchable: false, people: [] })
  await without.close()
})
