export type { BoundOptions } from './extensions/bound/bound-options.ts'
export { boundSessions } from './extensions/bound/bound-sessions.ts'
