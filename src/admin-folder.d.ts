/** Where the built files of the admin screen are. */
declare module 'virtual:admin-folder' {
  export const adminFolder: string
}
