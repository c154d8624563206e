import { createHash } from 'node:crypto'
import { script, style } from 'virtual:lazycomments-assets'

/** A file for the browser. Its name changes with its content, so a browser may keep it for ever. */
export interface CommentAsset {
  readonly name: string
  readonly type: string
  readonly text: string
}

function asset(text: string, extension: string, type: string): CommentAsset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { name: `${hash}.${extension}`, type, text }
}

/** The script and the style of the lazy comments. */
export const commentAssets = {
  script: asset(script, 'js', 'text/javascript; charset=utf-8'),
  style: asset(style, 'css', 'text/css; charset=utf-8'),
}
