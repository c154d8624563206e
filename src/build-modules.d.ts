/** The built script and style of the lazy comments, as strings. */
declare module 'virtual:lazycomments-assets' {
  export const script: string
  export const style: string
}

/** Returns the folder of the built admin screen, if it exists. */
declare module 'virtual:admin-folder' {
  export function adminFolder(): string
}

/** Loads the English texts that are not needed at startup. Throws if a bundle does not contain them. */
declare module 'virtual:late-texts' {
  export function load(): typeof import('./texts/english.ts')
}

/** Lua scripts are bundled as strings. */
declare module '*.lua' {
  const text: string
  export default text
}
