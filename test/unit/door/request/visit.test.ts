import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { beforeEach, describe, expect, it, test } from 'vitest'
import {
  nodeRequestOf,
  ownRequestOf,
  type RequestLike,
  responseOf,
  visitOf,
} from '../../../../src/door/request/visit.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { TestVisit } from '../../../support/test-visit.ts'

const noted = new TestVisit({ sessionID: 'a', session: { cart: 1 } as never })
const visited = {}
noted.standFor(visited)

test.each([
  ["Node's own", visited],
  ['one of Fastify', { raw: visited }],
  ['a context of Koa', { req: visited }],
])('the visit of a request as %s is found', (_, request) => {
  expect(visitOf(request as unknown as RequestLike)).toBe(noted)
})

test('a request that no guard has seen has no visit, and is what the application gets', () => {
  const request = { raw: undefined, req: {} } as unknown as RequestLike
  expect([visitOf(request), visitOf(undefined), ownRequestOf(request)]).toEqual([undefined, undefined, request])
})

test('a visit is out of sight of the data of its request', () => {
  expect([JSON.stringify(visited), Object.keys(visited)]).toEqual(['{}', []])
})

test('a visit that takes the place of another keeps what Passport has assigned to the request', () => {
  const [request, first, second] = [{}, new TestVisit({}), new TestVisit({})]
  const [logIn, login] = [() => {}, () => {}]
  Object.assign(first, { assignedLogIn: logIn, assignedLogin: login })
  first.standFor(request)
  second.standFor(request)
  expect(second).toMatchObject({ assignedLogIn: logIn, assignedLogin: login })
  expect(visitOf(request as RequestLike)).toBe(second)
})

const message = Object.assign(new IncomingMessage(new Socket()), { httpVersion: '1.1' })
const response = new ServerResponse(message)

it.each([
  ['Node and Express', message, response],
  ['Fastify', { raw: message }, { raw: response }],
  ['Koa', { req: message, res: response }, { req: message, res: response }],
])("Node's own request and response are found in those of %s", (_framework, request, answer) => {
  expect(nodeRequestOf(request as never)).toBe(message)
  expect(responseOf(answer as never, 'f(response)')).toBe(response)
})

it('a request or a response of nothing known is refused', () => {
  expect(() => nodeRequestOf({ headers: {} } as never)).toThrow(
    /^The request must be from Node, Express or Fastify, or /,
  )
  expect(() => responseOf({ status: 200 } as never, 'f(response)')).toThrow(
    'The response is missing: write f(response)',
  )
})

const ENDS = { mark: 0, generation: 0 }
const first = { userId: 7, token: tokenOf('first'), isReadable: true }
const second = { userId: 8, token: tokenOf('second'), isReadable: false }

describe('the login session on which a request goes', () => {
  let visit: TestVisit
  const note = ({ userId, token, isReadable }: typeof first) => visit.noteOrigin(userId, token, isReadable)
  beforeEach(() => {
    visit = new TestVisit()
    note(first)
  })

  it('is the one that was noted', async () => {
    expect(await visit.dependsOn()).toMatchObject(first)
    expect(await visit.dependsOn(7)).toMatchObject(first)
    expect(await visit.dependsOn('7')).toMatchObject(first)
    expect(await new TestVisit().dependsOn()).toBeUndefined()
  })

  it('is none for a user whose session it is not', async () => {
    expect(await visit.dependsOn(8)).toBeUndefined()
  })

  it('is the latest of several; by a user, the latest of theirs', async () => {
    note(second)
    expect(await visit.dependsOn()).toMatchObject(second)
    expect(await visit.dependsOn(7)).toMatchObject(first)
    const third = { ...first, token: tokenOf('third') }
    note(third)
    expect(await visit.dependsOn(7)).toMatchObject(third)
  })

  it.each([
    { ends: async () => ENDS, fate: 'is none once the request gave it up while it was live', left: undefined },
    { ends: async () => undefined, fate: 'stays when it was over before it was given up', left: first },
    {
      ends: () => Promise.reject(new Error('down')),
      fate: 'stays when nobody can tell whether it was live',
      left: first,
    },
  ])('$fate', async ({ ends, left }) => {
    visit.giveUp(first.token, ends())
    expect((await visit.dependsOn())?.token).toBe(left?.token)
  })

  it('is given up once: what is said later of the same session does not count', async () => {
    visit.giveUp(first.token, Promise.resolve(undefined))
    visit.giveUp(first.token, Promise.resolve(ENDS))
    expect(await visit.dependsOn()).toMatchObject(first)
  })

  it('stays when another session is given up', async () => {
    visit.giveUp(second.token, Promise.resolve(ENDS))
    expect(await visit.dependsOn()).toMatchObject(first)
  })

  it('is given up by its token also after a login by the same request', async () => {
    note(second)
    visit.giveUp(first.token, Promise.resolve(ENDS))
    expect(await visit.dependsOn()).toMatchObject(second)
    expect(await visit.dependsOn(7)).toBeUndefined()
  })
})
