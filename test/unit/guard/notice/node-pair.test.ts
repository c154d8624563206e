import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { messageOf, responseOf } from '../../../../src/guard/notice/node-pair.ts'

const message = Object.assign(new IncomingMessage(new Socket()), { httpVersion: '1.1' })
const response = new ServerResponse(message)

it.each([
  ['Node and Express', message, response],
  ['Fastify', { raw: message }, { raw: response }],
  ['Koa', { req: message, res: response }, { req: message, res: response }],
])("Node's own request and response are found in those of %s", (_framework, request, answer) => {
  expect(messageOf(request as never)).toBe(message)
  expect(responseOf(answer as never, 'f(response)')).toBe(response)
})

it('a request or a response of nothing known is refused', () => {
  expect(() => messageOf({ headers: {} } as never)).toThrow(/^The request must be from Node, Express or Fastify, or /)
  expect(() => responseOf({ status: 200 } as never, 'f(response)')).toThrow(
    'Write f(response): the response is missing',
  )
})
