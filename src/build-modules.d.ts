/** The built script and style of the lazy comments, as texts. */
declare module 'virtual:lazycomments-assets' {
  export const script: string
  export const style: string
}

/** Tells where the built files of the admin screen are, if they are there. */
declare module 'virtual:admin-folder' {
  export function adminFolder(): string
}

/** Lua scripts are bundled as text. */
declare module '*.lua' {
  const text: string
  export default text
}
