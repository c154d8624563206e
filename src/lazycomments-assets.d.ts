/** The built script and style of the lazy comments, as texts. */
declare module 'virtual:lazycomments-assets' {
  export const script: string
  export const style: string
}
