export { koaRoutes } from './adapters/koa/koa-routes.ts'
export { koaSessmgr } from './adapters/koa/koa-sessmgr.ts'
export type { KoaApplication, KoaContext, KoaMiddleware } from './adapters/koa/koa-types.ts'
