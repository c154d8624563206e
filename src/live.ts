export type { LiveEnd, LiveSocket } from './live/close-connection.ts'
export { type LiveConnections, type LiveOptions, liveConnections } from './live/live-connections.ts'
export type { SocketServer, UpgradableServer, UpgradeMiddleware, UpgradeOptions } from './live/upgrade.ts'
