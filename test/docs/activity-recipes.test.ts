import { generateKeyPair, jwtVerify } from 'jose'
import { expect, it, onTestFinished } from 'vitest'
import * as audit from '../../src/audit.ts'
import type { SessmgrOptions } from '../../src/index.ts'
import { startRestHost } from '../support/rest-host.ts'
import { nodeRequire, runBlock } from './recipe-app.ts'

it('activity.md: what is sent as it happens, and the mapped lines of an export, are the same OCSF events', async () => {
  const posted: Readonly<Record<string, unknown>>[] = []
  const fetch = async (_url: string, { body }: { body: string }) => {
    posted.push(...JSON.parse(body))
    return { ok: true }
  }
  let options: SessmgrOptions = {}
  const doors: Readonly<Record<string, object>> = {
    sessmgr: {
      sessmgr(given: SessmgrOptions) {
        options = given
      },
    },
    'sessmgr/audit': audit,
  }
  const names = { app: { use() {} }, fetch, require: (name: string) => doors[name] ?? nodeRequire(name) }
  const toOcsf = runBlock('activity', 2, names, 'toOcsf') as (event: object) => readonly object[]

  const host = await startRestHost({ sessmgr: { settings: { maximum: 1, logic: 'block' }, ...options } })
  onTestFinished(() => host.close())
  const { token } = await host.signIn('alice')
  await host.send('POST', '/login/alice')
  await host.limiter.sessions.end(2, token, { by: 'admin' })
  const headers = await host.scriptOf('admin')
  const { text } = await host.call('GET', '/sessmgr/v1/audit/export?user=alice', { headers })
  const lines = text.trim().split('\n').toReversed()
  await host.limiter.close()

  const event = {
    category_uid: 3,
    class_uid: 3002,
    severity_id: 1,
    time: expect.any(Number),
    metadata: { version: '1.3.0', uid: expect.any(String), product: { name: 'sessmgr', vendor_name: 'sessmgr' } },
    user: { uid: '2' },
    service: { name: 'shop.example' },
    src_endpoint: { ip: '127.0.0.1' },
  }
  const ofAlice = posted.filter(({ user }) => (user as { uid: string }).uid === '2')
  expect(ofAlice).toEqual([
    { ...event, activity_id: 1, type_uid: 300_201, status_id: 1, session: { uid: token } },
    { ...event, activity_id: 1, type_uid: 300_201, status_id: 2 },
    { ...event, activity_id: 2, type_uid: 300_202, status_id: 1, session: { uid: token, expiration_reason: 'admin' } },
  ])
  expect(JSON.parse(JSON.stringify(lines.flatMap((line) => toOcsf(JSON.parse(line)))))).toEqual(ofAlice)
  expect(toOcsf({ id: 'a', at: 1, type: 'logout.all', initiator: 'system' })).toEqual([])
})

it('activity.md: the end of a session becomes a signed CAEP event', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const tokenFor = runBlock('activity', 3, {}, 'tokenFor') as (
    event: audit.AuditEvent,
    key: CryptoKey,
  ) => Promise<string | undefined>
  const ended: audit.AuditEvent = {
    id: '019ab0e6-5d7b-7000-8000-000000000000',
    at: 1_763_800_000_123,
    type: 'session.ended',
    user: 7,
    session: 'a'.repeat(64),
    initiator: 'admin',
    kind: 'admin',
  }
  const { payload, protectedHeader } = await jwtVerify(String(await tokenFor(ended, privateKey)), publicKey)
  expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'secevent+jwt' })
  expect(payload).toEqual({
    iss: 'https://shop.example',
    aud: 'https://receiver.example',
    iat: expect.any(Number),
    jti: ended.id,
    txn: ended.id,
    sub_id: {
      format: 'complex',
      user: { format: 'iss_sub', iss: 'https://shop.example', sub: '7' },
      session: { format: 'opaque', id: ended.session },
    },
    events: {
      'https://schemas.openid.net/secevent/caep/event-type/session-revoked': {
        event_timestamp: 1_763_800_000,
        initiating_entity: 'admin',
        reason_admin: { en: 'admin' },
      },
    },
  })
  expect(await tokenFor({ ...ended, type: 'session.started' }, privateKey)).toBeUndefined()
})
