import { describe } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { describeHost } from './host-suite.ts'

describe('on Express', () => describeHost(startExpressHost))
