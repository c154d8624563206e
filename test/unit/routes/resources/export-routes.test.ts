import { expect, test } from 'vitest'
import { exportRows } from '../../../../src/routes/resources/export-routes.ts'

let read = 0
async function* pages(count: number) {
  for (read = 0; read < count; read++) yield [{ name: `a"${read}` }, { name: `b,${read}` }]
}
const columns = { name: ({ name }: { name: string }) => name, length: ({ name }: { name: string }) => name.length }

async function fileOf(format: 'csv' | 'json', count: number): Promise<string> {
  let text = ''
  for await (const chunk of exportRows('names', format, columns, pages(count)).chunks) text += chunk
  return text
}

test('a file has all rows', async () => {
  expect(await fileOf('csv', 2)).toBe('name,length\r\n"a""0",3\r\n"b,0",3\r\n"a""1",3\r\n"b,1",3\r\n')
  expect(JSON.parse(await fileOf('json', 2))).toEqual(['a"0', 'b,0', 'a"1', 'b,1'].map((name) => ({ name })))
})

test('a file without rows is complete', async () => {
  expect(await fileOf('csv', 0)).toBe('name,length\r\n')
  expect(await fileOf('json', 0)).toBe('[]\n')
})

test.each(['csv', 'json'] as const)('a %s file is read as far as it has been taken', async (format) => {
  const { chunks, name } = exportRows('names', format, columns, pages(1_000_000))
  const taken = chunks[Symbol.asyncIterator]()
  for (let count = 0; count < 3; count++) await taken.next()
  expect([name, read]).toEqual([`names.${format}`, 2])
  await taken.return?.()
})

test('a file whose first page fails has not begun', async () => {
  async function* failing() {
    yield* [] as { name: string }[][]
    throw new Error('no store')
  }
  for (const format of ['csv', 'json'] as const) {
    const { chunks } = exportRows('names', format, columns, failing())
    await expect(chunks[Symbol.asyncIterator]().next()).rejects.toThrow('no store')
  }
})
