import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { beforeHeaders } from '../../../../src/guard/request/before-headers.ts'

test('a change is made just before the headers are sent, by what the application has set until then', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  beforeHeaders(response, () => response.setHeader('x-seen', String(response.statusCode)))
  expect(response.hasHeader('x-seen')).toBe(false)
  response.writeHead(418)
  expect(response.getHeader('x-seen')).toBe('418')
})

test('a change that fails keeps no answer back', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  beforeHeaders(response, () => {
    throw new Error('no such cookie')
  })
  expect(() => response.writeHead(200)).not.toThrow()
  expect(response.headersSent).toBe(true)
})
