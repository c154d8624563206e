import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import express from 'express'
import { expect, test } from 'vitest'
import { nodeView } from '../../../../src/guard/request/node-view.ts'

const raw = () => new IncomingMessage(new Socket())

test("methods run on Node's own object, what the host keeps elsewhere is found first", () => {
  const view = nodeView(raw(), { ip: '192.0.2.1' })
  expect(view.ip).toBe('192.0.2.1')
  expect((view as unknown as IncomingMessage).setEncoding('utf8')).toBeInstanceOf(IncomingMessage)
  expect('ip' in view && 'headers' in view).toBe(true)
})

test('an Express application on the request, as @fastify/express puts it there, is no method to bind', () => {
  const request = Object.assign(raw(), { app: express() })
  expect(typeof (nodeView(request, {}) as unknown as { app: unknown }).app).toBe('function')
})
