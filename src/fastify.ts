export { type FastifyRoutesOptions, fastifyRoutes } from './adapters/fastify/fastify-routes.ts'
export { type FastifySessmgrOptions, fastifySessmgr } from './adapters/fastify/fastify-sessmgr.ts'
