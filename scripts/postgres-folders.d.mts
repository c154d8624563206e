/** Where Debian keeps the programs of the server. */
export function postgresFolders(): string[]
