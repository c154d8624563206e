export {
  fromIoredis,
  type IoredisClient,
  type RedisClient,
  type RedisSubscriber,
  type ScriptArguments,
} from './stores/redis/redis-client.ts'
export { type RedisStoreOptions, redisStore } from './stores/redis/redis-store.ts'
