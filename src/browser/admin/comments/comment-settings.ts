/** Name of the option, which only exists on sites with lazy comments. */
export const COMMENTS_OPTION = 'lazycomments_settings'

/** The settings of the lazy comments while they are being edited. */
export interface CommentSettings {
  readonly load_method: string
  readonly button_text: string
  readonly button_style: string
  readonly button_class: string
  readonly show_loader: boolean
  readonly minimum_count: unknown
  readonly disable_for_bots: boolean
  readonly cache_enabled: boolean
}
