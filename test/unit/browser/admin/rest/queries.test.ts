import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createQueries, type Query } from '../../../../../src/browser/admin/rest/queries.ts'
import { RestFailure, type Tagged } from '../../../../../src/browser/admin/rest/rest-client.ts'

type Page = Readonly<{ rows: readonly string[]; next?: string }>

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('window', new EventTarget())
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** A server whose answers a test gives one by one, and the queries that read from it. */
function setUp() {
  const calls: { path: string; last: unknown; give(body: object): void; keep(): void; fail(status: number): void }[] =
    []
  const reread = (path: string, last: unknown) =>
    new Promise<Tagged<object>>((resolve, reject) => {
      calls.push({
        path,
        last,
        keep: () => resolve(last as Tagged<object>),
        give: (body) => resolve({ body, tag: undefined }),
        fail: (status) => reject(new RestFailure({ status })),
      })
    })
  const queries = createQueries(reread as Parameters<typeof createQueries>[0])
  const give = async (body: object) => {
    calls.at(-1)?.give(body)
    await vi.advanceTimersByTimeAsync(0)
  }
  return { calls, queries, give }
}

const LIST: Query<Page> = { key: ['things'], path: (cursor = 'first') => `list/${cursor}`, next: ({ next }) => next }
const rowsOf = (queries: ReturnType<typeof createQueries>) =>
  queries
    .entryOf(LIST)
    .state()
    .pages?.flatMap(({ body }) => body.rows)

it('components that read the same share one call, and read again only what is no longer new', async () => {
  const { calls, queries, give } = setUp()
  const entry = queries.entryOf(LIST)
  const leave = entry.use()
  queries.entryOf({ ...LIST }).use()
  expect(calls).toHaveLength(1)
  await give({ rows: ['a'] })
  entry.use()
  expect(calls).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(5_000)
  leave()
  document.dispatchEvent(new Event('visibilitychange'))
  expect(calls).toHaveLength(2)
})

it('a list keeps its pages when it is read again, and an unchanged list stays the same array', async () => {
  const { calls, queries, give } = setUp()
  const entry = queries.entryOf(LIST)
  entry.use()
  await give({ rows: ['a'], next: 'second' })
  entry.readMore()
  expect(calls.at(-1)?.path).toBe('list/second')
  await give({ rows: ['b'] })
  expect(rowsOf(queries)).toEqual(['a', 'b'])
  const { pages } = entry.state()
  const again = entry.read()
  for (const page of pages ?? []) {
    expect(calls.at(-1)?.last).toBe(page)
    calls.at(-1)?.keep()
    await vi.advanceTimersByTimeAsync(0)
  }
  await again
  expect(entry.state().pages).toBe(pages)
  expect(calls.map(({ path }) => path)).toEqual(['list/first', 'list/second', 'list/first', 'list/second'])
})

it('what was read before a change is not shown after it', async () => {
  const { calls, queries, give } = setUp()
  queries.entryOf(LIST).use()
  void queries.expire('things')
  await give({ rows: ['after'] })
  calls[0]?.give({ rows: ['before'] })
  await vi.advanceTimersByTimeAsync(0)
  expect(rowsOf(queries)).toEqual(['after'])
  queries.set(LIST, { body: { rows: ['saved'] }, tag: undefined })
  expect(rowsOf(queries)).toEqual(['saved'])
})

it('what no component uses is read again when it is used next', async () => {
  const { calls, queries, give } = setUp()
  const leave = queries.entryOf(LIST).use()
  await give({ rows: ['a'] })
  leave()
  await queries.expire('other')
  queries.entryOf(LIST).use()()
  expect(calls).toHaveLength(1)
  await queries.expire()
  queries.entryOf(LIST).use()
  expect(calls).toHaveLength(2)
})

it('a failure that may pass is tried twice more; the last rows stay, and so does the reason until a read succeeds', async () => {
  const { calls, queries, give } = setUp()
  const entry = queries.entryOf(LIST)
  entry.use()
  await give({ rows: ['a'] })
  void entry.read()
  for (const wait of [300, 600, 0]) {
    calls.at(-1)?.fail(503)
    await vi.advanceTimersByTimeAsync(wait)
  }
  expect(calls).toHaveLength(4)
  expect(entry.state()).toMatchObject({ error: { status: 503 }, isReading: false })
  void entry.read()
  expect(entry.state()).toMatchObject({ error: { status: 503 }, pages: [{ body: { rows: ['a'] } }] })
  calls.at(-1)?.fail(403)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(calls).toHaveLength(5)
  window.dispatchEvent(new Event('online'))
  await give({ rows: ['b'] })
  expect(entry.state().error).toBeUndefined()
})

it('of the results that no component uses, only the latest are kept', () => {
  const { queries } = setUp()
  const search = (n: number) => queries.entryOf({ key: ['search', n], path: () => `${n}` })
  const [first, used] = [search(0), search(1)]
  used.use()
  for (let n = 2; n < 60; n += 1) search(n)
  expect(search(1)).toBe(used)
  expect(search(0)).not.toBe(first)
})
