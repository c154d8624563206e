import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import type { RoutedRequest } from '../../../src/door/host-types.ts'
import { bodyText } from '../../../src/routes/body.ts'

const read = (parts: readonly unknown[]) => bodyText(Readable.from(parts) as unknown as RoutedRequest)

it('reads a body that another middleware has decoded', async () => {
  expect(await read(['{"a":', Buffer.from('"ü"'), '}'])).toBe('{"a":"ü"}')
})

it('refuses a stream of anything but bytes and strings', async () => {
  await expect(read([{ a: 1 }])).rejects.toMatchObject({ status: 400 })
})
