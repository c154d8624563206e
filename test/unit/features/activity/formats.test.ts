import { isIP } from 'node:net'
import { exportJWK, generateKeyPair, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { type AuditEvent, signEvent, toCaep, toOcsf } from '../../../../src/audit.ts'
import { AUDIT_TYPES } from '../../../../src/features/activity/audit-event.ts'
import { INITIATORS } from '../../../../src/features/activity/event-of.ts'
import { OCSF_NAMES, OCSF_OBJECTS, type OcsfObject } from '../../../support/ocsf-facts.ts'

const AT = 1_763_800_000_123
const TOKEN = 'a'.repeat(64)
const ended: AuditEvent = {
  id: '019ab0e6-5d7b-7000-8000-000000000000',
  at: AT,
  type: 'session.ended',
  user: 7,
  session: TOKEN,
  initiator: 'admin',
  actor: 1,
  kind: 'admin',
  device: 'Chrome on Windows',
  ip: '203.0.113.9',
  details: { note: 'Your account was locked.' },
}
const started: AuditEvent = {
  id: ended.id,
  at: AT,
  type: 'session.started',
  user: 7,
  session: TOKEN,
  initiator: 'user',
}
const everyType = AUDIT_TYPES.map((type): AuditEvent => ({ ...started, type }))

describe('toCaep', () => {
  const options = { issuer: 'https://shop.example', audience: 'https://idp.example' }

  it('describes an ended session as session-revoked, with its time in seconds', () => {
    expect(toCaep(ended, options)).toEqual({
      iss: 'https://shop.example',
      aud: 'https://idp.example',
      iat: expect.any(Number),
      jti: ended.id,
      txn: ended.id,
      sub_id: {
        format: 'complex',
        user: { format: 'iss_sub', iss: 'https://shop.example', sub: '7' },
        session: { format: 'opaque', id: TOKEN },
      },
      events: {
        'https://schemas.openid.net/secevent/caep/event-type/session-revoked': {
          event_timestamp: 1_763_800_000,
          initiating_entity: 'admin',
          reason_admin: { en: 'admin' },
          reason_user: { en: 'Your account was locked.' },
        },
      },
    })
  })

  it('describes a login as session-established, and nothing else', () => {
    const found = everyType.map((event) =>
      Object.keys(toCaep(event, options)?.events ?? {})[0]
        ?.split('/')
        .at(-1),
    )
    expect(found).toEqual(['session-established', 'session-revoked', ...Array(AUDIT_TYPES.length - 2)])
  })

  it.each([
    [undefined, 'The options of toCaep() must be an object.'],
    [{}, '"issuer" must be a non-empty string, such as the URL of your site.'],
    [{ ...options, isuer: 'x' }, 'toCaep() has no option "isuer". Did you mean "issuer"?'],
    [
      { ...options, audience: ['https://idp.example', 5] },
      '"audience" must be a non-empty string or an array of them.',
    ],
    [{ ...options, language: 'not a tag' }, '"language" must be a language tag such as "en".'],
  ])('refuses the options %j', async (wrong, message) => {
    const refusal = expect.objectContaining({ code: 'invalid_option', message })
    expect(() => toCaep(ended, wrong as never)).toThrow(refusal)
    // Also for events that have no CAEP event.
    expect(() => toCaep({ ...ended, type: 'logout.all' }, wrong as never)).toThrow(refusal)
  })

  it('names only entities that the profile knows', () => {
    expect(['admin', 'user', 'policy', 'system']).toEqual(expect.arrayContaining(Object.values(INITIATORS)))
  })

  it('is signed as a security event token', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const claims = toCaep(ended, options)
    if (!claims) throw new Error('no claims')
    const keys = [privateKey, await exportJWK(privateKey), await crypto.subtle.exportKey('jwk', privateKey)]
    for (const key of keys) {
      const token = await signEvent(claims, { key, alg: 'ES256', kid: 'one' })
      const { payload, protectedHeader } = await jwtVerify(token, publicKey, options)
      expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'secevent+jwt', kid: 'one' })
      expect(payload).toEqual(claims)
    }
    const refusal = signEvent(claims, { key: privateKey, alg: 'ES256', keyId: 'one' } as never)
    await expect(refusal).rejects.toThrow('signEvent() has no option "keyId"')
  })
})

const TYPES: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string' && value !== '',
  integer: Number.isSafeInteger,
  timestamp: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  ip: (value) => isIP(String(value)) !== 0,
  any: (value) => typeof value === 'object',
}

/** Lists what the schema of OCSF does not allow. */
function faultsOf(name: string, value: Readonly<Record<string, unknown>>): readonly string[] {
  const { attributes, required = [], oneOf } = OCSF_OBJECTS[name] as OcsfObject
  const missing = required.filter((key) => !(key in value))
  const none = oneOf && !oneOf.some((key) => key in value) ? [oneOf.join(' or ')] : []
  const wrong = Object.entries(value).flatMap(([key, part]) => {
    const type = attributes[key] ?? 'unknown'
    if (type in OCSF_OBJECTS) return faultsOf(type, part as Record<string, unknown>)
    return TYPES[type]?.(part) ? [] : [`${key}: ${part} (${type})`]
  })
  return [...missing, ...none, ...wrong].map((fault) => `${name}: ${fault}`)
}

describe('toOcsf', () => {
  it('is about the types that concern the authentication of a user', () => {
    const events = everyType.map((event) => toOcsf(event))
    expect(events.map((event) => event && [event.type_uid, event.status_id])).toEqual([
      [300_201, 1],
      [300_202, 1],
      [300_201, 2],
      [300_201, 99],
      ...Array(AUDIT_TYPES.length - 4),
    ])
  })

  it.each(
    [started, ended, { ...ended, ip: 'unknown' }, { ...ended, ip: '2001:db8::' }].flatMap((event) =>
      AUDIT_TYPES.map((type) => ({ ...event, type })),
    ),
  )('has only attributes of the schema, with the types, numbers and names that it defines: %j', (event) => {
    const found = toOcsf(event)
    if (!found)
      return expect(['session.started', 'session.ended', 'login.refused', 'login.asked']).not.toContain(event.type)
    expect(faultsOf('authentication', found)).toEqual([])
    expect(found).toMatchObject({
      category_uid: 3,
      category_name: 'Identity & Access Management',
      class_uid: 3002,
      class_name: 'Authentication',
      type_uid: 3002 * 100 + found.activity_id,
      type_name: `Authentication: ${found.activity_name}`,
      metadata: { version: '1.3.0' },
    })
    for (const [kind, names] of Object.entries(OCSF_NAMES)) {
      const id = found[`${kind}_id`] as number
      expect(names[id] ?? 'Asked', kind).toBe(found[kind === 'activity' ? 'activity_name' : kind])
    }
    if (event.ip) expect(JSON.stringify(found)).toContain(`"ip":"${event.ip}"`)
  })

  it('names the session, why it ended, who ended it, and the client', () => {
    expect(toOcsf(ended, 'shop')).toMatchObject({
      time: AT,
      session: { uid: TOKEN, expiration_reason: 'admin' },
      actor: { user: { uid: '1' } },
      src_endpoint: { ip: '203.0.113.9' },
      service: { name: 'shop' },
      metadata: { uid: ended.id, event_code: 'session.ended' },
    })
    expect(toOcsf(started)).not.toHaveProperty('actor')
  })

  it('refuses a name of the site that is not one, as in events.map(toOcsf)', () => {
    expect(() => [ended].map(toOcsf as never)).toThrow('The site name must be a non-empty string')
  })

  it('is not about events without a user', () => {
    const { user: _, ...nobody } = started
    expect(toOcsf(nobody)).toBeUndefined()
  })
})
