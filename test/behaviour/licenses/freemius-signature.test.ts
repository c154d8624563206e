import { expect, it } from 'vitest'
import { signedHeaders } from '../../../src/extensions/freemius/freemius-call.ts'

it('requests to Freemius are signed as in the published example, with a body and a secret key, too', () => {
  const request = {
    method: 'GET',
    path: '/v1/plugins/1234/addons.json',
    date: new Date(Date.UTC(2026, 0, 1)),
    id: 1234,
    publicKey: 'pk_test',
    form: 'bytes',
  } as const
  const signature = 'DKrGlyG3PfmokQRId7Cdrd6-unl1thdyFaWt1UzAxkc'
  const date = 'Thu, 01 Jan 2026 00:00:00 +0000'
  expect(signedHeaders(request)).toEqual({ Authorization: `FSP 1234:pk_test:${signature}`, Date: date })
  const hex = Buffer.from(Buffer.from(signature, 'base64url').toString('hex')).toString('base64url')
  expect(signedHeaders({ ...request, form: 'hex' }).Authorization).toBe(`FSP 1234:pk_test:${hex}`)
  const headers = signedHeaders({ ...request, method: 'POST', body: '{}', secretKey: 'sk_test' })
  expect(headers).toEqual({
    Authorization: expect.stringMatching(/^FS 1234:pk_test:[\w-]{43}$/),
    Date: date,
    'Content-MD5': '99914b932bd37a50b983c5e7c90ae93b',
  })
  expect(headers.Authorization).not.toContain('sk_test')
})
