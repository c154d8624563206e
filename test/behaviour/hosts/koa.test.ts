import { describe } from 'vitest'
import { describeHost } from './host-suite.ts'
import { startKoaHost } from './koa-host.ts'

describe('on Koa', () => describeHost(startKoaHost))
