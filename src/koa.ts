export { koaRoutes } from './adapters/koa/koa-routes.ts'
export { type KoaSessmgrOptions, koaSessmgr } from './adapters/koa/koa-sessmgr.ts'
export type { KoaApplication, KoaContext, KoaMiddleware } from './adapters/koa/koa-types.ts'
export type { ReadingClient } from './adapters/read-sessions.ts'
