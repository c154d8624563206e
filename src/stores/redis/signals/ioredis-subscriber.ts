import type { RedisSubscriber } from '../redis-client.ts'

/** The methods of an ioredis client that is used only for subscriptions. */
export interface IoredisSubscriber {
  /** Subscribes to channels. */
  subscribe(...channels: string[]): Promise<unknown>
  /** Ends subscriptions. */
  unsubscribe(...channels: string[]): Promise<unknown>
  /** Adds a listener. */
  on(event: string, listener: (...parameters: never[]) => void): unknown
  /** Removes a listener. */
  off(event: string, listener: (...parameters: never[]) => void): unknown
  /** Closes the connection. */
  disconnect(): void
}

/** Wraps an ioredis client that is used only for subscriptions. */
export function ioredisSubscriber(redis: IoredisSubscriber): RedisSubscriber {
  const hearing = new Map<unknown, (from: string, message: string) => void>()
  return {
    on: (event, listener) => redis.on(event, listener),
    off: (event, listener) => redis.off(event, listener),
    async subscribe(channel, listener) {
      const hear = (from: string, message: string) => void (from === channel && listener(message))
      hearing.set(listener, hear)
      redis.on('message', hear)
      await redis.subscribe(channel)
    },
    async unsubscribe(_channel, listener) {
      const hear = hearing.get(listener)
      // Other subscriptions of the application may use the channel.
      if (hear) redis.off('message', hear)
    },
    destroy: () => redis.disconnect(),
  }
}
