export { fromIoredis, type IoredisClient } from './stores/redis/from-ioredis.ts'
export type { RedisClient, RedisSubscriber, ScriptArguments } from './stores/redis/redis-client.ts'
export { type RedisStoreOptions, redisStore } from './stores/redis/redis-store.ts'
