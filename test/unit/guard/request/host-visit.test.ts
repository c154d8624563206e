import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { guardedRequestOf, type RequestLike, VISIT, viewOf } from '../../../../src/guard/request/host-visit.ts'

const visit = { raw: new IncomingMessage(new Socket()), sessionID: 'a' }
const visited = { [VISIT]: visit }

test.each([
  ["Node's own", visited],
  ['one of Fastify', { raw: visited }],
  ['a context of Koa', { req: visited }],
])('a request as %s is the visit that its adapter has noted', (_, request) => {
  expect(guardedRequestOf(request as unknown as RequestLike)).toBe(visit)
})

test('a request of Express is itself', () => {
  const request = { raw: undefined, req: {} } as unknown as RequestLike
  expect([guardedRequestOf(request), viewOf(request)]).toEqual([request, request])
})

test("a visit is shown as Express would have it: what it has itself first, Node's request for the rest", () => {
  const view = viewOf(visited)
  expect([view.sessionID, view.headers]).toEqual(['a', visit.raw.headers])
})
