import { describe } from 'vitest'
import { startExpressHost } from './express-host.ts'
import { describeHost } from './host-suite.ts'

describe('on Express', () => describeHost(startExpressHost))
