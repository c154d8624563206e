export { type BoundOptions, boundSessions } from './extensions/bound/bound-sessions.ts'
