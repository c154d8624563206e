import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { cookiesOf } from '../../../../src/guard/request/cookies-of.ts'

test.each([
  [undefined, []],
  ['a=1', ['a=1']],
  [
    ['a=1', 'b=2'],
    ['a=1', 'b=2'],
  ],
])('a response with the cookies %j has the list %j', (given, list) => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  if (given) response.setHeader('Set-Cookie', given)
  expect(cookiesOf(response)).toEqual(list)
})
