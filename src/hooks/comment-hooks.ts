import type { FilterShape, HookEntry } from './hook-types.ts'

/** Actions of the lazy comments: what happened. */
export interface CommentActions {
  lazycomments_init: [core: unknown]
  lazycomments_activated: []
  lazycomments_deactivated: []
}

/** Filters of the lazy comments: what an add-on may change. */
export interface CommentFilters {
  lazycomments_can_lazy_load: FilterShape<boolean>
  lazycomments_rendered_html: FilterShape<string, [post: unknown]>
  lazycomments_default_settings: FilterShape<Readonly<Record<string, unknown>>>
  lazycomments_capability: FilterShape<string>
  lazycomments_has_access: FilterShape<boolean>
}

/** Every hook of the lazy comments, as data. */
export const commentHooks = {
  actions: {
    lazycomments_init: {
      parameters: ['core'],
      since: '2.0.0',
      summary: 'Fires once, when every part is wired.',
    },
    lazycomments_activated: {
      parameters: [],
      since: '2.0.0',
      summary: 'Fires right after activation or reactivation.',
    },
    lazycomments_deactivated: {
      parameters: [],
      since: '2.0.0',
      summary: 'Fires right after deactivation. User data stays.',
    },
  },
  filters: {
    lazycomments_can_lazy_load: {
      parameters: ['can'],
      since: '2.0.0',
      summary: 'Decides whether the comments of this view load lazily (true) or stand inline (false).',
    },
    lazycomments_rendered_html: {
      parameters: ['html', 'post'],
      since: '2.0.0',
      summary: 'Changes the comments markup before it goes to the browser.',
    },
    lazycomments_default_settings: {
      parameters: ['defaults'],
      since: '2.0.0',
      summary: 'Changes the defaults of the settings.',
    },
    lazycomments_capability: {
      parameters: ['capability'],
      since: '2.0.0',
      summary: 'Names the capability that managing the lazy comments takes.',
    },
    lazycomments_has_access: {
      parameters: ['has_access'],
      since: '2.0.0',
      summary: 'Decides, after the capability check, whether this user may manage the lazy comments.',
    },
  },
} satisfies {
  actions: Record<keyof CommentActions, HookEntry>
  filters: Record<keyof CommentFilters, HookEntry>
}
