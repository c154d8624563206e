export type { LiveEnd, LiveSocket } from './extensions/live/close-connection.ts'
export { type LiveConnections, type LiveOptions, liveConnections } from './extensions/live/live-connections.ts'
export type { SocketServer, UpgradableServer, UpgradeMiddleware, UpgradeOptions } from './extensions/live/upgrade.ts'
