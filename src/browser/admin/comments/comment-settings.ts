/** Name of the option, which only sites with lazy comments have. */
export const COMMENTS_OPTION = 'lazycomments_settings'

/** The settings of the lazy comments, as they are while they are being edited. */
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
