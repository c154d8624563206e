import type { FilterShape, HookEntry } from './hook-types.ts'

/** Actions of the lazy comments: what happened. */
export interface CommentActions {
  /** Fires once, in the next turn of the event loop after the lazy comments were made; `core` is these. */
  lazycomments_init: [core: unknown]
  /** Fires when the application calls `activate()`. */
  lazycomments_activated: []
  /** Fires when the application calls `deactivate()`. Nothing is removed. */
  lazycomments_deactivated: []
}

/** Filters of the lazy comments: what an add-on may change. */
export interface CommentFilters {
  /** Decides whether the comments of a view load lazily (true) or stand inline (false), after the built-in checks. */
  lazycomments_can_lazy_load: FilterShape<boolean>
  /** Changes the markup that `GET /comments` answers; not that of inline comments. */
  lazycomments_rendered_html: FilterShape<string, [post: unknown]>
  /** Changes the defaults of the settings. It adds no key. */
  lazycomments_default_settings: FilterShape<Readonly<Record<string, unknown>>>
  /** Names the capability that it takes to clear the comments cache. */
  lazycomments_capability: FilterShape<string>
  /** Decides whether the caller may clear the comments cache, after the capability check. */
  lazycomments_has_access: FilterShape<boolean>
}

/** Every hook of the lazy comments, as data. */
export const commentHooks = {
  actions: {
    lazycomments_init: {
      parameters: ['core'],
      since: '2.0.0',
      summary: 'Fires once, in the next turn of the event loop after the lazy comments were made; core is these.',
    },
    lazycomments_activated: {
      parameters: [],
      since: '2.0.0',
      summary: 'Fires when the application calls activate().',
    },
    lazycomments_deactivated: {
      parameters: [],
      since: '2.0.0',
      summary: 'Fires when the application calls deactivate().',
    },
  },
  filters: {
    lazycomments_can_lazy_load: {
      parameters: ['can'],
      since: '2.0.0',
      summary:
        'Decides whether the comments of a view load lazily (true) or stand inline (false), after the built-in checks.',
    },
    lazycomments_rendered_html: {
      parameters: ['html', 'post'],
      since: '2.0.0',
      summary: 'Changes the markup that GET /comments answers; not that of inline comments.',
    },
    lazycomments_default_settings: {
      parameters: ['defaults'],
      since: '2.0.0',
      summary: 'Changes the defaults of the settings.',
    },
    lazycomments_capability: {
      parameters: ['capability'],
      since: '2.0.0',
      summary: 'Names the capability that it takes to clear the comments cache.',
    },
    lazycomments_has_access: {
      parameters: ['has_access'],
      since: '2.0.0',
      summary: 'Decides whether the caller may clear the comments cache, after the capability check.',
    },
  },
} satisfies {
  actions: Record<keyof CommentActions, HookEntry>
  filters: Record<keyof CommentFilters, HookEntry>
}
