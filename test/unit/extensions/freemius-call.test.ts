import { describe, expect, it } from 'vitest'
import { signedHeaders } from '../../../src/extensions/freemius/freemius-call.ts'

describe('signed headers', () => {
  const request = {
    method: 'GET',
    path: '/v1/plugins/1234/addons.json',
    date: new Date(Date.UTC(2026, 0, 1)),
    id: 1234,
    publicKey: 'pk_test',
    form: 'bytes',
  } as const

  it('are those of the published example', () => {
    expect(signedHeaders(request)).toEqual({
      Authorization: 'FSP 1234:pk_test:DKrGlyG3PfmokQRId7Cdrd6-unl1thdyFaWt1UzAxkc',
      Date: 'Thu, 01 Jan 2026 00:00:00 +0000',
    })
  })

  it('hold the digest as hexadecimal text where that is the form', () => {
    const bytes = Buffer.from('DKrGlyG3PfmokQRId7Cdrd6-unl1thdyFaWt1UzAxkc', 'base64url')
    const signature = Buffer.from(bytes.toString('hex')).toString('base64url')
    expect(signedHeaders({ ...request, form: 'hex' }).Authorization).toBe(`FSP 1234:pk_test:${signature}`)
  })

  it('sign the body, and with the secret key where there is one', () => {
    const headers = signedHeaders({ ...request, method: 'POST', body: '{}', secretKey: 'sk_test' })
    expect(headers).toEqual({
      Authorization: expect.stringMatching(/^FS 1234:pk_test:[\w-]{43}$/),
      Date: 'Thu, 01 Jan 2026 00:00:00 +0000',
      'Content-MD5': '99914b932bd37a50b983c5e7c90ae93b',
    })
    expect(headers.Authorization).not.toContain('sk_test')
  })
})
