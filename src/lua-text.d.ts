/** Lua scripts are bundled as text. */
declare module '*.lua' {
  const text: string
  export default text
}
