import { once } from 'node:events'
import { expect, it } from 'vitest'
import { openIo, signIn } from '../../support/live-clients.ts'
import { startLiveHost } from '../../support/live-host.ts'

it('with connectionStateRecovery, clients that come back are checked, or none is let in', async () => {
  const host = await startLiveHost({ io: { connectionStateRecovery: { skipMiddlewares: false } } })
  const client = await signIn(host.origin, 7)
  const opened = await openIo(host.origin, client)
  const { socket } = opened
  const received = once(socket as never, 'event')
  // Clients come back with the number of the last event.
  host.io.emit('event', 1)
  await received
  const [joined] = host.io.sockets.sockets.values()
  const gone = once(joined as never, 'disconnect')
  socket.io.engine.close()
  await gone
  socket.connect()
  await expect.poll(() => socket.recovered).toBe(true)
  expect(host.live.size).toBe(1)
  await host.limiter.sessions.endAll(7)
  await expect.poll(() => opened.isOpen()).toBe(false)
  expect(host.live.size).toBe(0)

  const unsafe = await startLiveHost({ io: { connectionStateRecovery: {} } })
  const refused = await openIo(unsafe.origin, await signIn(unsafe.origin, 7))
  expect(await refused.closed).toBe('refused: unchecked_recovery')
  expect(String(unsafe.logs)).toContain('Set connectionStateRecovery: { skipMiddlewares: false }.')
})
