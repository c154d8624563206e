import { describe } from 'vitest'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { describeHost } from './host-suite.ts'

describe('on Fastify', () => describeHost(startFastifyHost))
