import type { FilterShape, HookEntry } from './bus.ts'

/** Actions of the lazy comments. */
export interface CommentActions {
  /** Fires once, in the next turn of the event loop after the lazy comments, `core`, were created. */
  lazycomments_init: [core: unknown]
  /** Fires when the application calls `activate()`. */
  lazycomments_activated: []
  /** Fires when the application calls `deactivate()`. No data is removed. */
  lazycomments_deactivated: []
}

/** Filters of the lazy comments. */
export interface CommentFilters {
  /** Decides, after the built-in checks, whether the comments of a page view load lazily (true) or inline (false). */
  lazycomments_can_lazy_load: FilterShape<boolean>
  /** Changes the markup that `GET /comments` returns. Does not affect inline comments. */
  lazycomments_rendered_html: FilterShape<string, [post: unknown]>
  /** Changes the default settings. Cannot add keys. */
  lazycomments_default_settings: FilterShape<Readonly<Record<string, unknown>>>
  /** Changes the capability that is required to clear the comments cache. */
  lazycomments_capability: FilterShape<string>
  /** Decides, after the capability check, whether the caller may clear the comments cache. */
  lazycomments_has_access: FilterShape<boolean>
}

/** The catalogue of all lazy comments hooks. */
export const commentHooks = {
  actions: {
    lazycomments_init: {
      parameters: ['core'],
      summary: 'Fires once, in the next turn of the event loop after the lazy comments, core, were created.',
    },
    lazycomments_activated: {
      parameters: [],
      summary: 'Fires when the application calls activate().',
    },
    lazycomments_deactivated: {
      parameters: [],
      summary: 'Fires when the application calls deactivate().',
    },
  },
  filters: {
    lazycomments_can_lazy_load: {
      parameters: ['can'],
      summary:
        'Decides, after the built-in checks, whether the comments of a page view load lazily (true) or inline (false).',
    },
    lazycomments_rendered_html: {
      parameters: ['html', 'post'],
      summary: 'Changes the markup that GET /comments returns. Does not affect inline comments.',
    },
    lazycomments_default_settings: {
      parameters: ['defaults'],
      summary: 'Changes the default settings.',
    },
    lazycomments_capability: {
      parameters: ['capability'],
      summary: 'Changes the capability that is required to clear the comments cache.',
    },
    lazycomments_has_access: {
      parameters: ['has_access'],
      summary: 'Decides, after the capability check, whether the caller may clear the comments cache.',
    },
  },
} satisfies {
  actions: Record<keyof CommentActions, HookEntry>
  filters: Record<keyof CommentFilters, HookEntry>
}
