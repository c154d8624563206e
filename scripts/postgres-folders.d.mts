/** Returns the folders in which Debian keeps the programs of the server. */
export function postgresFolders(): string[]
