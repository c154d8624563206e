/** Tells where the built files of the admin screen are, if they are there. */
declare module 'virtual:admin-folder' {
  export function adminFolder(): string
}
