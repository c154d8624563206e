import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { registerSession } from '../../support/register-session.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { send } from '../../support/send.ts'

const host = forThisFile(() => startRestHost())
const headers = forThisFile(() => host.scriptOf('admin'))
beforeAll(async () => {
  for (let count = 0; count < 60; count++) await registerSession(host, 2, { ttlMs: 3_600_000 })
})

async function read(user: string, more: Record<string, string>) {
  const url = `${host.origin}/api/sessmgr/v1/sessions?user=${user}`
  const answer = await send(url, { headers: { ...headers, ...more } })
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
}

it('a long list is compressed for a client that accepts gzip, and is the same list', async () => {
  const plain = await read('alice', {})
  const zipped = await read('alice', { 'accept-encoding': 'br, gzip;q=0.8' })
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(zipped.headers['content-encoding']).toBe('gzip')
  expect(zipped.body.length).toBeLessThan(plain.body.length / 4)
  expect(zipped.headers['content-length']).toBe(String(zipped.body.length))
  expect(gunzipSync(zipped.body)).toEqual(plain.body)
})

it('the weak tag of a compressed list and the strong one of the plain list both answer 304', async () => {
  const tags = [
    (await read('alice', { 'accept-encoding': 'gzip' })).headers.etag,
    (await read('alice', {})).headers.etag,
  ]
  expect(tags[0]).toBe(`W/${tags[1]}`)
  for (const tag of tags) {
    for (const coding of ['gzip', 'identity']) {
      const again = await read('alice', { 'if-none-match': String(tag), 'accept-encoding': coding })
      expect([again.status, again.body.length]).toEqual([304, 0])
    }
  }
})

it('a short response is sent as it is, and so is a long one where gzip is refused', async () => {
  expect((await read('bob', { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBeUndefined()
  for (const coding of ['gzip;q=0', 'identity', 'deflate']) {
    expect((await read('alice', { 'accept-encoding': coding })).headers['content-encoding']).toBeUndefined()
  }
})
