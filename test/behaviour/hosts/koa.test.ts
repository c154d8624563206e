import { describe } from 'vitest'
import { startKoaHost } from '../../support/koa-host.ts'
import { describeHost } from './host-suite.ts'

describe('on Koa', () => describeHost(startKoaHost))
