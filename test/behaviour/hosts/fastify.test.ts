import { describe } from 'vitest'
import { startFastifyHost } from './fastify-host.ts'
import { describeHost } from './host-suite.ts'

describe('on Fastify', () => describeHost(startFastifyHost))
