import { describe } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { startFetchHost } from '../../support/fetch-host.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { startExplicitHost } from './hono-host.ts'
import { describeCalls, describeHost } from './host-suite.ts'

describe('on Express', () => describeHost(startExpressHost))
describe('on Fastify', () => describeHost(startFastifyHost))
describe('on Koa', () => describeHost(startKoaHost))
describe('with explicit calls', () => describeCalls(startExplicitHost))
describe('with a Request', () => describeCalls(startFetchHost))
