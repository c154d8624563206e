import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import type { RoutedRequest } from '../../../src/door/host-types.ts'
import { bodyText } from '../../../src/routes/body.ts'

it('a body that another middleware has decoded is read, and a stream of anything but bytes and strings refused', async () => {
  const read = (parts: readonly unknown[]) => bodyText(Readable.from(parts) as unknown as RoutedRequest)
  expect(await read(['{"a":', Buffer.from('"ü"'), '}'])).toBe('{"a":"ü"}')
  await expect(read([{ a: 1 }])).rejects.toMatchObject({ status: 400 })
})
