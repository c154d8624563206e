export type {
  BlockCache,
  CommentSettings,
  CommentSettingsService,
  LazyComments,
} from './features/comments/lazy-comments.ts'
export { SessmgrError, type SessmgrErrorCode } from './ground/errors.ts'
export type { CommentActions, CommentFilters } from './hooks/comment-hooks.ts'
export type { Hooks } from './hooks/hooks.ts'
export type { Block, BlockTheme, ClassicTheme, HostPosts, RenderContext, Theme } from './host/host.ts'
export {
  createLazyComments,
  type LazyCommentsHost,
  type LazyCommentsOptions,
  type StandaloneComments,
} from './service/create-lazy-comments.ts'
export { memoryStore } from './stores/memory-store.ts'
export type { SessmgrStore } from './stores/store.ts'
export type { TextKey, Texts } from './texts/text-catalogue.ts'
export type { TextsOption } from './texts/texts-for.ts'
